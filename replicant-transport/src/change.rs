//! What happened in a source transaction, one change at a time, in order.

use std::sync::Arc;

use crate::cell::{Cell, Opaque, Tuple};
use crate::relation::{KeyPart, Relation};

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

impl OldRow {
    /// The image as it was sent, placeholders included.
    pub fn tuple(&self) -> &Tuple {
        match self {
            Self::Key(tuple) | Self::Full(tuple) => tuple,
        }
    }

    /// The old value of column `index`, or `None` when it was not sent: a placeholder is not NULL.
    ///
    /// `relation` is the description that came with the change.
    pub fn get(&self, relation: &Relation, index: usize) -> Option<Cell<'_>> {
        let sent = match self {
            Self::Full(_) => true,
            Self::Key(_) => relation.columns.get(index)?.key == KeyPart::Key,
        };
        self.tuple().get(index).filter(|_| sent)
    }
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::cell::Slot;
    use crate::ident::{Ident, QualifiedName};
    use crate::relation::{RelationColumn, ReplicaIdentity};

    #[test]
    fn a_placeholder_in_a_key_image_is_not_a_value() {
        let column = |name, key| RelationColumn {
            name: Ident::new(name).unwrap(),
            type_oid: 25,
            type_modifier: -1,
            key,
        };
        let relation = Relation {
            oid: 1,
            name: QualifiedName::new("public", "t").unwrap(),
            replica_identity: ReplicaIdentity::Default,
            columns: vec![column("id", KeyPart::Key), column("v", KeyPart::NotKey)],
        };
        let slots = vec![Slot::Text { start: 0, end: 1 }, Slot::Null];
        let tuple = Tuple::new(Bytes::from_static(b"1"), slots).unwrap();
        let key = OldRow::Key(tuple.clone());
        assert_eq!(key.get(&relation, 0), Some(Cell::Text(b"1")));
        assert_eq!(key.get(&relation, 1), None);
        assert_eq!(OldRow::Full(tuple).get(&relation, 1), Some(Cell::Null));
    }
}
