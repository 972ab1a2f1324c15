//! How far delivery has come, for whoever asks: positions and counts, never values.

use std::time::SystemTime;

use replicant_transport::position::{CommitLsn, EndLsn};

use crate::telemetry::GroupFacts;

/// How far delivery has come in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// START of the last durable transaction's commit record.
    pub commit_lsn: Option<CommitLsn>,
    /// END of it.
    pub end_lsn: Option<EndLsn>,
    /// When the destination transaction was committed, by this machine's clock.
    pub committed_at: Option<SystemTime>,
    /// Source transactions made durable.
    pub transactions: u64,
    /// Row changes of those transactions.
    pub changes: u64,
    /// Destination transactions committed.
    pub groups: u64,
}

impl Progress {
    pub(crate) fn advance(&mut self, commit_lsn: CommitLsn, end_lsn: EndLsn, facts: GroupFacts) {
        self.commit_lsn = Some(commit_lsn);
        self.end_lsn = Some(end_lsn);
        self.committed_at = Some(SystemTime::now());
        self.transactions += facts.transactions;
        self.changes += facts.changes;
        self.groups += 1;
    }
}
