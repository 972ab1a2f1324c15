//! What an append log declares: which field holds which fact about an event, and how an event is recorded once.

use super::role::Role;

/// How events are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AppendSpec {
    /// The create action that records an event.
    pub action: &'static str,
    /// The identity of an event: exactly its five axes, across tenants.
    pub identity: &'static str,
    /// Field of the source's system identifier. An axis.
    pub source_system: &'static str,
    /// Field of the source's database. An axis.
    pub source_database: &'static str,
    /// Field of the slot. An axis.
    pub slot: &'static str,
    /// Field of the commit LSN. An axis.
    pub commit_lsn: &'static str,
    /// Field of the position within the transaction. An axis.
    pub ordinal: &'static str,
    /// Field of the kind of change.
    pub operation: &'static str,
    /// Field that tells stream from snapshot.
    pub origin: &'static str,
    /// Field of the snapshot attempt; NULL for streamed events.
    pub attempt: &'static str,
    /// Field that lists the columns an update did not send.
    pub unchanged: Option<&'static str>,
    /// Field of the commit time.
    pub commit_timestamp: Option<&'static str>,
    /// Field of the transaction id, which orders nothing.
    pub xid: Option<&'static str>,
    /// Field of a message's prefix.
    pub message_prefix: Option<&'static str>,
    /// Field of a message's content.
    pub message_content: Option<&'static str>,
}

/// The name of the append action unless another is given.
pub const ACTION: &str = "append";
/// The name of the append identity unless another is given.
pub const IDENTITY: &str = "append_identity";

impl AppendSpec {
    /// The field of each role, where it is filled.
    pub const fn roles(&self) -> [(Role, Option<&'static str>); 13] {
        let Self {
            action: _,
            identity: _,
            source_system,
            source_database,
            slot,
            commit_lsn,
            ordinal,
            operation,
            origin,
            attempt,
            unchanged,
            commit_timestamp,
            xid,
            message_prefix,
            message_content,
        } = *self;
        [
            (Role::SourceSystem, Some(source_system)),
            (Role::SourceDatabase, Some(source_database)),
            (Role::Slot, Some(slot)),
            (Role::CommitLsn, Some(commit_lsn)),
            (Role::Ordinal, Some(ordinal)),
            (Role::Operation, Some(operation)),
            (Role::Origin, Some(origin)),
            (Role::Attempt, Some(attempt)),
            (Role::Unchanged, unchanged),
            (Role::CommitTimestamp, commit_timestamp),
            (Role::Xid, xid),
            (Role::MessagePrefix, message_prefix),
            (Role::MessageContent, message_content),
        ]
    }

    /// The fields that identify an event, in the order of the index.
    pub const fn axes(&self) -> [&'static str; 5] {
        [
            self.source_system,
            self.source_database,
            self.slot,
            self.commit_lsn,
            self.ordinal,
        ]
    }
}
