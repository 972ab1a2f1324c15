//! What happened in a source transaction, one change at a time, in order.

use std::sync::Arc;

use crate::cell::{Opaque, Tuple};
use crate::relation::Relation;

/// Position of a change inside its transaction, from 0, shared by row changes and transactional messages.
///
/// It is the same on every redelivery. A truncate of n tables takes n ordinals; its own is the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ordinal(pub u64);

/// The old image of an updated or deleted row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OldRow {
    /// Only the replica identity's columns are meaningful; the others hold NULL placeholders ("not sent").
    Key(Tuple),
    /// The whole row, sent under REPLICA IDENTITY FULL, out-of-line values included.
    Full(Tuple),
}

/// One change of a source transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Position in the transaction.
    pub ordinal: Ordinal,
    /// Bytes this change holds in memory, counted against every limit.
    pub bytes: usize,
    /// What happened.
    pub kind: ChangeKind,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// A row appeared. `new` never holds an unchanged cell.
    Insert {
        /// The table, as described when the row was sent.
        relation: Arc<Relation>,
        /// The row.
        new: Tuple,
    },
    /// A row changed.
    Update {
        /// The table, as described when the row was sent.
        relation: Arc<Relation>,
        /// The old image, when the server sent one. A key image does not mean that the key changed.
        old: Option<OldRow>,
        /// The new image; out-of-line values that did not change are `Unchanged`.
        new: Tuple,
    },
    /// A row went away.
    Delete {
        /// The table, as described when the row was sent.
        relation: Arc<Relation>,
        /// Its identity, or all of it.
        old: OldRow,
    },
    /// Tables were emptied by one statement; they must be emptied as one unit.
    Truncate {
        /// Every truncated published table.
        relations: Vec<Arc<Relation>>,
        /// CASCADE was given.
        cascade: bool,
        /// RESTART IDENTITY was given.
        restart_identity: bool,
    },
    /// A transactional logical message (`pg_logical_emit_message(true, ...)`).
    Message {
        /// Its prefix: it is neither unique nor safe to print.
        prefix: Opaque,
        /// Its content.
        content: Opaque,
    },
}
