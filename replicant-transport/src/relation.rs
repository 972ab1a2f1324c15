//! What the server says about a table before its rows: the Relation message, kept per session.
//!
//! Source: PostgreSQL documentation, "Logical Replication Message Formats", Relation.

mod diff;
mod modifier;

pub use diff::{RelationChange, RelationDiff, Severity, diff};
pub use modifier::ModifierChange;

use crate::ident::{Ident, QualifiedName};

/// What identifies an old row on the wire (`pg_class.relreplident`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ReplicaIdentity {
    /// `d`: the primary key, if there is one.
    Default,
    /// `n`: nothing; the source refuses updates and deletes on a published table.
    Nothing,
    /// `f`: the whole old row.
    Full,
    /// `i`: the columns of one unique index.
    Index,
}

impl ReplicaIdentity {
    /// The catalog's letter.
    pub const fn letter(self) -> char {
        match self {
            Self::Default => 'd',
            Self::Nothing => 'n',
            Self::Full => 'f',
            Self::Index => 'i',
        }
    }

    /// From the catalog's letter.
    pub const fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'd' => Some(Self::Default),
            b'n' => Some(Self::Nothing),
            b'f' => Some(Self::Full),
            b'i' => Some(Self::Index),
            _ => None,
        }
    }
}

/// Is a column part of the replica identity?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum KeyPart {
    /// Yes: it is present in `K` tuples.
    Key,
    /// No: a `K` tuple holds a NULL placeholder in its place.
    NotKey,
}

/// One column as the stream describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelationColumn {
    /// Name, exactly as in the catalog.
    pub name: Ident,
    /// Object id of the type.
    pub type_oid: u32,
    /// Type modifier such as a length or precision; -1 when there is none.
    pub type_modifier: i32,
    /// Whether the replica identity includes it. FULL marks every column.
    pub key: KeyPart,
}

/// One table as the stream describes it, valid for the rows that follow in this session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    /// Object id on the source.
    pub oid: u32,
    /// Schema and table.
    pub name: QualifiedName,
    /// What old rows carry.
    pub replica_identity: ReplicaIdentity,
    /// Columns in stream order, which is the source's column order without the columns the stream omits.
    pub columns: Vec<RelationColumn>,
}
