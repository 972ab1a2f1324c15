//! From options to an authenticated session.

use super::options::ConnectOptions;
use super::session::Session;
use crate::error::Error;
use crate::reason::Reason;

/// What the session is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// A walsender bound to a database.
    Replication,
    /// An ordinary backend.
    Sql,
}

pub(super) async fn open(_options: &ConnectOptions, _purpose: Purpose) -> Result<Session, Error> {
    Err(Reason::SourceUnreachable.into())
}
