//! Which tables one statement emptied, and how: Truncate.

use super::malformed::{Malformed, Problem};
use super::reader::Reader;

/// `T`: tables were emptied by one statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Truncate {
    /// CASCADE was given; the tables it reached are listed too when they are published.
    pub cascade: bool,
    /// RESTART IDENTITY was given.
    pub restart_identity: bool,
    /// Object ids of the published tables among them, at least one.
    pub relations: Vec<u32>,
}

impl Truncate {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        // The option byte follows the count, so at least one more byte than the ids must be there.
        let count = reader.count32("number of tables", 4)?;
        if count == 0 {
            return Err(reader.malformed("number of tables", Problem::OutOfRange));
        }
        let (cascade, restart_identity) = match reader.u8("options")? {
            0 => (false, false),
            1 => (true, false),
            2 => (false, true),
            3 => (true, true),
            _ => return Err(reader.malformed("options", Problem::Unknown)),
        };
        let mut relations = Vec::with_capacity(count);
        for _ in 0..count {
            relations.push(reader.u32("relation id")?);
        }
        Ok(Self {
            cascade,
            restart_identity,
            relations,
        })
    }
}
