//! Which columns does the sink fill by itself, and what must each of them be able to hold?
//!
//! A role is a fact about a version, an event or a snapshot that a field holds. One table says for each role which
//! option names its field, what the field is called when nothing is written, and which types can hold it; parsing,
//! rules, migrations and documentation read it.

use super::column::{Nullability, Storage};

/// A fact that the sink writes into a field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Role {
    /// History: the commit LSN that opened the version.
    ValidFromLsn,
    /// History: the commit LSN that closed the version.
    ValidToLsn,
    /// History: the commit time that opened the version.
    ValidFrom,
    /// History: the commit time that closed the version.
    ValidTo,
    /// History: whether the version is open.
    Current,
    /// Log: the source's system identifier.
    SourceSystem,
    /// Log: the source's database.
    SourceDatabase,
    /// Log: the slot.
    Slot,
    /// Log: the commit LSN.
    CommitLsn,
    /// Log: the position within the transaction.
    Ordinal,
    /// Log: insert, update, delete, truncate, message or snapshot.
    Operation,
    /// Log: stream or snapshot.
    Origin,
    /// Log: the snapshot attempt.
    Attempt,
    /// Log: the columns an update did not send.
    Unchanged,
    /// Log: the commit time.
    CommitTimestamp,
    /// Log: the transaction id.
    Xid,
    /// Log: a message's prefix.
    MessagePrefix,
    /// Log: a message's content.
    MessageContent,
    /// Provenance: a keyed hash of the row a snapshot saw.
    Fingerprint,
    /// Provenance: the snapshot attempt that saw the row.
    SeenAttempt,
}

/// Which declaration has a role?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RoleOf {
    /// `history_strategy = scd2`.
    History,
    /// `append_log`.
    AppendLog,
    /// `snapshot_provenance`.
    Provenance,
}

impl RoleOf {
    /// The option that demands the roles.
    pub const fn option(self) -> &'static str {
        match self {
            Self::History => "history_strategy",
            Self::AppendLog => "append_log",
            Self::Provenance => "snapshot_provenance",
        }
    }
}

/// What the field is when no option names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unnamed {
    /// The field of this name, which must exist.
    Field(&'static str),
    /// The field of this name, if there is one.
    FieldIfAny(&'static str),
    /// None: the role is not filled.
    Nothing,
}

/// Which NULLs must the field be able to hold?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nulls {
    /// None: NULL would defeat the role.
    Refused,
    /// It must hold NULL.
    Needed,
    /// Either way.
    Either,
}

impl Role {
    /// Every role, in the order of the options.
    pub const ALL: &'static [Self] = &[
        Self::ValidFromLsn,
        Self::ValidToLsn,
        Self::ValidFrom,
        Self::ValidTo,
        Self::Current,
        Self::SourceSystem,
        Self::SourceDatabase,
        Self::Slot,
        Self::CommitLsn,
        Self::Ordinal,
        Self::Operation,
        Self::Origin,
        Self::Attempt,
        Self::Unchanged,
        Self::CommitTimestamp,
        Self::Xid,
        Self::MessagePrefix,
        Self::MessageContent,
        Self::Fingerprint,
        Self::SeenAttempt,
    ];

    /// How a message calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ValidFromLsn => "the commit LSN that opened a version",
            Self::ValidToLsn => "the commit LSN that closed a version",
            Self::ValidFrom => "the commit time that opened a version",
            Self::ValidTo => "the commit time that closed a version",
            Self::Current => "whether a version is open",
            Self::SourceSystem => "the source's system identifier",
            Self::SourceDatabase => "the source's database",
            Self::Slot => "the slot",
            Self::CommitLsn => "the commit LSN",
            Self::Ordinal => "the position within the transaction",
            Self::Operation => "the kind of change",
            Self::Origin => "whether an event came from the stream or a snapshot",
            Self::Attempt => "the snapshot attempt",
            Self::Unchanged => "which columns an update did not send",
            Self::CommitTimestamp => "the commit time",
            Self::Xid => "the transaction id",
            Self::MessagePrefix => "a message's prefix",
            Self::MessageContent => "a message's content",
            Self::Fingerprint => "a hash of the row that a snapshot saw",
            Self::SeenAttempt => "the snapshot attempt that saw the row",
        }
    }

    /// The Rust type its field has, as a message shows it.
    pub const fn rust_type(self) -> &'static str {
        match self {
            Self::ValidFromLsn | Self::CommitLsn | Self::Ordinal => "i64",
            Self::ValidToLsn | Self::Xid => "Option<i64>",
            Self::ValidFrom | Self::ValidTo | Self::CommitTimestamp => "Option<DateTime<Utc>>",
            Self::Current => "bool",
            Self::SourceSystem
            | Self::SourceDatabase
            | Self::Slot
            | Self::Operation
            | Self::Origin => "String",
            Self::MessagePrefix => "Option<String>",
            Self::Attempt | Self::MessageContent | Self::Fingerprint | Self::SeenAttempt => {
                "Option<Vec<u8>>"
            }
            Self::Unchanged => "Vec<String>",
        }
    }

    /// Which declaration has it.
    pub const fn of(self) -> RoleOf {
        match self {
            Self::ValidFromLsn
            | Self::ValidToLsn
            | Self::ValidFrom
            | Self::ValidTo
            | Self::Current => RoleOf::History,
            Self::SourceSystem
            | Self::SourceDatabase
            | Self::Slot
            | Self::CommitLsn
            | Self::Ordinal
            | Self::Operation
            | Self::Origin
            | Self::Attempt
            | Self::Unchanged
            | Self::CommitTimestamp
            | Self::Xid
            | Self::MessagePrefix
            | Self::MessageContent => RoleOf::AppendLog,
            Self::Fingerprint | Self::SeenAttempt => RoleOf::Provenance,
        }
    }

    /// The option that names its field; `None` where the field's name is fixed.
    pub const fn option(self) -> Option<&'static str> {
        Some(match self {
            Self::ValidFromLsn => "history_valid_from_lsn_attribute",
            Self::ValidToLsn => "history_valid_to_lsn_attribute",
            Self::ValidFrom => "history_valid_from_timestamp_attribute",
            Self::ValidTo => "history_valid_to_timestamp_attribute",
            Self::Current => "history_current_attribute",
            Self::SourceSystem => "append_source_system_attribute",
            Self::SourceDatabase => "append_source_database_attribute",
            Self::Slot => "append_slot_attribute",
            Self::CommitLsn => "append_commit_lsn_attribute",
            Self::Ordinal => "append_ordinal_attribute",
            Self::Operation => "append_operation_attribute",
            Self::Origin => "append_origin_attribute",
            Self::Attempt => "append_attempt_attribute",
            Self::Unchanged => "append_unchanged_attribute",
            Self::CommitTimestamp => "append_commit_timestamp_attribute",
            Self::Xid => "append_xid_attribute",
            Self::MessagePrefix => "append_message_prefix_attribute",
            Self::MessageContent => "append_message_content_attribute",
            Self::Fingerprint | Self::SeenAttempt => return None,
        })
    }

    /// Its field when no option names one.
    pub const fn unnamed(self) -> Unnamed {
        match self {
            Self::ValidFromLsn => Unnamed::Field("valid_from_lsn"),
            Self::ValidToLsn => Unnamed::Field("valid_to_lsn"),
            Self::ValidFrom | Self::ValidTo | Self::Current => Unnamed::Nothing,
            Self::SourceSystem => Unnamed::Field("source_system_id"),
            Self::SourceDatabase => Unnamed::Field("source_database"),
            Self::Slot => Unnamed::Field("slot_name"),
            Self::CommitLsn => Unnamed::Field("commit_lsn"),
            Self::Ordinal => Unnamed::Field("ordinal"),
            Self::Operation => Unnamed::Field("operation"),
            Self::Origin => Unnamed::Field("origin"),
            Self::Attempt => Unnamed::Field("snapshot_attempt"),
            Self::Unchanged | Self::CommitTimestamp | Self::Xid => Unnamed::Nothing,
            Self::MessagePrefix => Unnamed::FieldIfAny("message_prefix"),
            Self::MessageContent => Unnamed::FieldIfAny("message_content"),
            Self::Fingerprint => Unnamed::Field("replica_fingerprint"),
            Self::SeenAttempt => Unnamed::Field("replica_seen_attempt"),
        }
    }

    /// The families that can hold it.
    pub const fn storages(self) -> &'static [Storage] {
        match self {
            Self::ValidFromLsn | Self::ValidToLsn | Self::CommitLsn | Self::Ordinal | Self::Xid => {
                &[Storage::Int8]
            }
            Self::ValidFrom | Self::ValidTo | Self::CommitTimestamp => &[Storage::TimestampTz],
            Self::Current => &[Storage::Bool],
            Self::SourceSystem
            | Self::SourceDatabase
            | Self::Slot
            | Self::Operation
            | Self::Origin
            | Self::MessagePrefix => &[Storage::Text],
            Self::Attempt | Self::MessageContent | Self::Fingerprint | Self::SeenAttempt => {
                &[Storage::Bytes]
            }
            Self::Unchanged => &[Storage::Array],
        }
    }

    /// Which NULLs its field must be able to hold.
    pub const fn nulls(self) -> Nulls {
        match self {
            Self::ValidFromLsn
            | Self::SourceSystem
            | Self::SourceDatabase
            | Self::Slot
            | Self::CommitLsn
            | Self::Ordinal
            | Self::Operation
            | Self::Origin => Nulls::Refused,
            // An open version has no end; a snapshot row has no commit time; a streamed event has no attempt and a
            // row no message.
            Self::ValidToLsn
            | Self::ValidFrom
            | Self::ValidTo
            | Self::Attempt
            | Self::CommitTimestamp
            | Self::Xid
            | Self::MessagePrefix
            | Self::MessageContent
            // A row that was never marked has neither; a fingerprint that cannot be computed is NULL.
            | Self::Fingerprint
            | Self::SeenAttempt => Nulls::Needed,
            Self::Current | Self::Unchanged => Nulls::Either,
        }
    }

    /// Can a column of this nullability hold it?
    pub const fn admits(self, nullability: Nullability) -> bool {
        matches!(
            (self.nulls(), nullability),
            (Nulls::Either, _)
                | (Nulls::Refused, Nullability::NotNull)
                | (Nulls::Needed, Nullability::Nullable)
        )
    }
}
