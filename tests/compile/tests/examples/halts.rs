//! What a program makes of a halt.

use replicant_sink::prelude::*;
use replicant_sink::{Class, Error};

/// What the one who is on call needs to know.
pub struct Page {
    /// Stable: what is to be done is looked up by it.
    pub code: &'static str,
    pub table: Option<String>,
    /// What going on would guess about; nobody else can decide that.
    pub decision: bool,
    /// The one line, with place and help, and without a value.
    pub line: String,
}

impl From<Error> for Page {
    fn from(error: Error) -> Self {
        Self {
            code: error.code(),
            table: error.site().table.map(|table| table.to_string()),
            decision: error.class() == Class::OperatorDecision,
            line: error.to_string(),
        }
    }
}

/// Runs a mirror until it is asked to stop, or halts.
pub async fn mirror(pipeline: &Pipeline) -> Result<(), Page> {
    let handle = pipeline.start().await?;
    Ok(handle.join().await?)
}
