//! What the destination's catalog says, as plain values.

use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::source::{PgType, TableColumn, TableKind};

use super::render;
use crate::generation::Conversion;

/// The destination, as far as admission looks at it.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) server: Server,
    /// One entry per asked table that exists.
    pub(super) tables: Vec<Table>,
    /// How types are read from text that a declared cast would make from it.
    pub(super) inputs: Vec<(u32, Option<Conversion>)>,
    /// Every foreign key from or to an asked table or a partition of one.
    pub(super) foreign_keys: Vec<ForeignKey>,
}

impl Facts {
    /// How text becomes a value of this type's base type by the type's input function. `None` when a declared cast is
    /// in the way of every form.
    pub(super) fn read_text(&self, ty: &PgType) -> Option<Conversion> {
        match self.inputs.iter().find(|(oid, _)| *oid == ty.base_oid) {
            Some((_, input)) => input.clone(),
            None => Some(Conversion::Cast(render::base_type(ty))),
        }
    }

    /// The table of that name.
    pub(super) fn table(&self, name: &QualifiedName) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == *name)
    }
}

/// The session and its rights.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// `server_version_num`.
    pub(super) version: i32,
    /// The role that delivers.
    pub(super) role: Ident,
    pub(super) in_recovery: bool,
    pub(super) default_read_only: bool,
    /// May set `session_replication_role`.
    pub(super) may_silence: bool,
    /// `lc_monetary` is one whose text form every server prints alike.
    pub(super) plain_money: bool,
}

/// One destination table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: QualifiedName,
    pub(super) kind: TableKind,
    /// Inherited by other tables, which an UPDATE would reach too. Never true for a partitioned table.
    pub(super) has_children: bool,
    pub(super) row_security_applies: bool,
    pub(super) schema_usable: bool,
    /// Privileges of the delivery role that are missing, in lower case.
    pub(super) privileges_missing: Vec<&'static str>,
    /// In attribute order.
    pub(super) columns: Vec<Column>,
    pub(super) unique: Vec<UniqueIndex>,
    /// Names of unique indexes and constraints, those of partitions included.
    pub(super) constraints: Vec<Ident>,
    /// The key columns of its unique indexes without expressions, and of those of its partitions, by name.
    pub(super) unique_over: Vec<(Ident, Vec<Ident>)>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) rules: Vec<Rule>,
}

impl Table {
    /// The unique indexes, of it and of its partitions, that do not name this column. What an index over expressions tells
    /// apart is not known.
    pub(super) fn without(&self, column: &Ident) -> Vec<Ident> {
        let indexes = self.unique_over.iter();
        indexes
            .filter(|(_, keys)| !keys.contains(column))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// One destination column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) column: TableColumn,
    /// It, or its domain, has a default.
    pub(super) has_default: bool,
    /// Equal strings are equal bytes under the column's collation.
    pub(super) deterministic: bool,
}

impl Column {
    pub(super) fn name(&self) -> &Ident {
        &self.column.name
    }

    pub(super) fn ty(&self) -> &PgType {
        &self.column.ty
    }
}

/// A unique index or exclusion constraint, of the table or of a partition.
#[derive(Clone, Debug)]
pub(super) struct UniqueIndex {
    /// The relation it belongs to.
    pub(super) on: QualifiedName,
    /// Rows can be found by it: B-tree, valid, immediate, without predicate or expression, on the table itself.
    pub(super) findable: bool,
    /// The constraint behind it, if that is deferrable.
    pub(super) deferrable: Option<QualifiedName>,
    /// Checked row by row.
    pub(super) immediate: bool,
    /// The part of the table it holds for, as the server writes it.
    pub(super) predicate: Option<String>,
    /// Its own name.
    pub(super) name: Ident,
    /// The constraint behind it.
    pub(super) constraint: Option<Ident>,
    /// Key columns in index order; empty when one of them is an expression, and for other than B-tree indexes of the
    /// table itself.
    pub(super) columns: Vec<KeyPart>,
}

/// One key column of an index.
#[derive(Clone, Debug)]
pub(super) struct KeyPart {
    pub(super) column: Ident,
    /// The equality operator of the operator class.
    pub(super) equals: String,
    pub(super) deterministic: bool,
}

/// In which sessions a trigger or rule fires (`pg_trigger.tgenabled`, `pg_rewrite.ev_enabled`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fires {
    /// Never.
    Disabled,
    /// In ordinary sessions.
    Origin,
    /// In sessions with `session_replication_role = replica`.
    Replica,
    /// In every session.
    Always,
}

/// A user trigger of the table or of a partition.
#[derive(Clone, Debug)]
pub(super) struct Trigger {
    pub(super) name: Ident,
    /// The relation it hangs on.
    pub(super) on: QualifiedName,
    pub(super) fires: Fires,
}

/// A rewrite rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: Ident,
    pub(super) fires: Fires,
}

/// A foreign key.
#[derive(Clone, Debug)]
pub(super) struct ForeignKey {
    /// Schema and constraint name, as SET CONSTRAINTS takes them.
    pub(super) name: QualifiedName,
    /// The referencing relation.
    pub(super) from: End,
    /// The referenced relation.
    pub(super) to: End,
    pub(super) deferrable: bool,
    /// NO ACTION on update and on delete.
    pub(super) no_action: bool,
    pub(super) match_full: bool,
    /// Another constraint of the schema has the same name and is not deferrable, so that SET CONSTRAINTS fails.
    pub(super) name_is_shared: bool,
}

/// One side of a foreign key.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The relation the constraint hangs on.
    pub(super) relation: QualifiedName,
    /// The asked table that it is, or is a partition of.
    pub(super) table: Option<QualifiedName>,
    pub(super) columns: Vec<Ident>,
}
