//! When something happened on the source, as histories and logs write it down.

use replicant_transport::error::Site;
use replicant_transport::wire::to_micros;

use super::Piece;
use crate::error::Error;
use crate::generation::Table;
use crate::reason::Reason;

/// The source transaction a change belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    /// START of its commit record, as `bigint`.
    pub(crate) lsn: i64,
    /// Its commit time in microseconds since 2000-01-01 UTC. Nothing may order by it.
    pub(crate) micros: Option<i64>,
    /// Its 32-bit id, which wraps.
    pub(crate) xid: Option<u32>,
}

impl Moment {
    /// The transaction of a piece.
    ///
    /// # Errors
    /// `change_unsupported` while it is not committed: what is written down of it starts with its commit position.
    pub(crate) fn of(piece: &Piece, table: &Table) -> Result<Self, Error> {
        let lsn = piece.commit_lsn.and_then(|at| at.lsn().to_bigint());
        let lsn = lsn.ok_or_else(|| {
            let fact = "a transaction without a commit position cannot be recorded";
            Error::new(
                Reason::ChangeUnsupported,
                Site::table(&table.source).fact(fact),
            )
        })?;
        Ok(Self {
            lsn,
            micros: piece.committed_at.map(to_micros),
            xid: piece.xid,
        })
    }
}
