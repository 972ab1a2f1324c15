//! How does a diagnosis reach both sides without being able to change either?
//!
//! Both sessions are read-only by default. On the source the startup packet says so. On the destination the session
//! sets it for itself, so that admission still sees what a session of a pipeline would start with.

use replicant_transport::connect::{SqlSession, sql};

use crate::delivery::destination::as_destination;
use crate::error::Error;
use crate::pipeline::{Ends, Pipeline};
use crate::reason::Reason;

/// Where both ends are, for sessions that only read.
pub(crate) fn read_only(pipeline: &Pipeline) -> Result<Ends, Error> {
    let ends = pipeline.ends()?;
    Ok(Ends {
        source: ends
            .source
            .with_setting("default_transaction_read_only", "on"),
        ..ends
    })
}

/// A session on the destination that only reads.
pub(crate) async fn destination(ends: &Ends) -> Result<SqlSession, Error> {
    let session = sql(&ends.destination).await.map_err(as_destination)?;
    session
        .client
        .batch_execute("set default_transaction_read_only = on")
        .await
        .map_err(|_| Error::from(Reason::DestinationUnreachable))?;
    Ok(session)
}
