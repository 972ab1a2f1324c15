//! What must happen in the destination: changes become effects, effects fold per key, folds become set operations.
//!
//! Everything here is pure. A plan borrows the changes it was made from and copies no value.

use replicant_transport::change::Change;
use replicant_transport::position::CommitLsn;

/// One source transaction, or a part of a large one.
#[derive(Clone, Debug)]
pub struct Piece {
    /// START of its commit record; `None` while the source transaction is still in progress.
    pub commit_lsn: Option<CommitLsn>,
    /// Its changes, in order.
    pub changes: Vec<Change>,
}

/// How much of the source table a destination table is known to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Completeness {
    /// Every row: an update of an absent row is divergence.
    Complete,
    /// A copy is in progress: rows may be absent, or newer than the change that arrives.
    Filling,
    /// It was not empty when the mirror began: any row may be absent.
    Open,
}
