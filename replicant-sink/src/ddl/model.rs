//! What is a destination made of, as far as a declaration asks for it? Plain data, stored as JSON beside migrations.

use replicant_transport::ident::{Ident, QualifiedName};
use serde::{Deserialize, Serialize};

use super::place::Home;
use super::stored_names::{name, names, optional_name, qualified};

/// Everything that one pipeline asks of its destination.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// Where the checkpoint lives.
    pub checkpoint: CheckpointWanted,
    /// Who makes tables that are new.
    pub new_tables: MadeBy,
    /// Its tables, sorted by name.
    pub tables: Vec<Table>,
}

/// Where a checkpoint lives and who may read it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointWanted {
    /// Its schema.
    #[serde(with = "name")]
    pub schema: Ident,
    /// The role that may SELECT it.
    #[serde(with = "optional_name")]
    pub select_grant: Option<Ident>,
    /// The format of its tables.
    pub format: i32,
    /// Whether it remembers messages.
    #[serde(default, skip_serializing_if = "Claims::is_none")]
    pub claims: Claims,
}

/// Does a checkpoint remember which messages took effect?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claims {
    /// No: no message has an effect of its own.
    #[default]
    None,
    /// No longer: the table was left where it was, with what it remembers.
    Left,
    /// Yes.
    Kept,
}

impl Claims {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Who makes a table?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MadeBy {
    /// The host; a migration adds what only the mirror needs: unique indexes and provenance columns.
    #[default]
    Host,
    /// A migration.
    Migrations,
}

/// One table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    #[serde(with = "qualified")]
    pub name: QualifiedName,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Home::is_fixed")]
    pub home: Home,
    /// Who makes it.
    pub made_by: MadeBy,
    /// The columns a migration makes: all of them, or those that only the mirror needs.
    pub columns: Vec<Column>,
    /// The columns of its primary key; empty for a table without one, and where the host makes it.
    #[serde(with = "names")]
    pub primary_key: Vec<Ident>,
    /// Its unique indexes beside the primary key.
    pub unique: Vec<UniqueIndex>,
}

/// One column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    #[serde(with = "name")]
    pub name: Ident,
    /// Its type as SQL.
    pub sql_type: String,
    /// Who fills it.
    pub filled: Filled,
    /// Whether it can hold NULL.
    pub nulls: Nulls,
    /// The source column that is mirrored into it, by which a renamed column is known again.
    pub source: Option<String>,
}

/// Who fills a column?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filled {
    /// Whoever writes the row.
    Written,
    /// The destination, with the next number.
    Identity,
    /// The destination, with a random UUID (PostgreSQL 13 and later).
    RandomUuid,
}

/// Can a column hold NULL?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nulls {
    /// Yes.
    Allowed,
    /// No: it is NOT NULL.
    Refused,
}

/// One unique index.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniqueIndex {
    /// Its name, in the schema of its table.
    #[serde(with = "name")]
    pub name: Ident,
    /// Its columns, in order.
    #[serde(with = "names")]
    pub columns: Vec<Ident>,
    /// The part of the table it holds for, as SQL.
    pub predicate: Option<String>,
}

impl UniqueIndex {
    /// Is it over exactly these columns of all rows?
    pub(crate) fn covers(&self, columns: &[Ident]) -> bool {
        self.predicate.is_none() && same_columns(&self.columns, columns)
    }
}

/// Are these the same columns, in whatever order?
pub(crate) fn same_columns(one: &[Ident], other: &[Ident]) -> bool {
    one.len() == other.len() && one.iter().all(|name| other.contains(name))
}
