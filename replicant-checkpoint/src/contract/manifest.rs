//! What of a declaration is stored beside the watermark: everything that changes the meaning of destination rows.
//!
//! A manifest holds names and closed words, never a value. It identifies a relation by its source and destination
//! table, never by a Rust path, so moving a module changes nothing; the functions and hooks of the host alone are
//! known by the path they were written with. It is sorted, so declaration order changes nothing either.
//! [`encode`](super::encode) turns it into bytes and [`drift`](super::drift) compares two.

mod from_spec;

use super::action::ActionKind;
use super::column::{Fidelity, Protection, Storage};
use super::identity::IdentityReach;
use super::resource::{OnSchemaChange, OnTruncate};
use super::role::Role;
use super::sink::{InitialState, SinkKind};
use super::tenancy::TenancyReach;

/// Version of the canonical bytes. It grows with every change of [`Manifest`]'s shape.
pub const MANIFEST_VERSION: u8 = 2;

/// What one checkpoint was reached under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// What the source was asked to send.
    pub stream: Stream,
    /// What the sink is made of.
    pub kind: SinkKind,
    /// Where its log begins.
    pub initial_state: Option<InitialState>,
    /// Mapped tables, sorted by source.
    pub relations: Vec<Relation>,
    /// Published tables that are deliberately dropped, sorted.
    pub ignores: Vec<Table>,
    /// Message routes, sorted by prefix.
    pub routes: Vec<Route>,
    /// Prefixes of messages that are deliberately dropped, sorted.
    pub ignored_prefixes: Vec<String>,
}

/// The decoder and the set of tables it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stream {
    /// pgoutput with these publications, sorted.
    Pgoutput {
        /// Publication names.
        publications: Vec<String>,
    },
}

/// Schema and table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Table {
    /// The schema. Under a schema per tenant, the pattern of its name.
    pub schema: String,
    /// The table.
    pub table: String,
}

/// What the messages of a prefix run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The prefix.
    pub prefix: String,
    /// The table that the action writes.
    pub target: Table,
    /// The action, by what others call it.
    pub action: String,
    /// The effect outside the destination, by its path as written.
    pub effect: Option<String>,
}

/// How a mapped table's rows are held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holding {
    /// Current state.
    Mirror,
    /// Versions.
    History {
        /// Destination columns of the natural key, sorted.
        business_key: Vec<String>,
        /// What the sink records, and in which destination column, sorted by role.
        roles: Vec<(Role, String)>,
    },
    /// Events.
    AppendLog {
        /// What the sink records, and in which destination column, sorted by role.
        roles: Vec<(Role, String)>,
    },
}

/// How rows belong to tenants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tenants {
    /// They do not.
    None,
    /// They do.
    Some {
        /// What keeps tenants apart.
        apart: Apart,
        /// Whether a row without a tenant is legal.
        reach: TenancyReach,
        /// What tells a row's tenant.
        told: Told,
    },
}

/// What keeps tenants apart in the destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Apart {
    /// This destination column.
    Column(String),
    /// A schema of this pattern.
    Schema(String),
}

/// What tells a row's tenant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// The source column of this name.
    Column(String),
    /// A function of the host, by its path as written.
    Function {
        /// The path.
        path: String,
        /// What it is called with beside the row, in order.
        args: Vec<String>,
    },
}

/// Do snapshots mark rows?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Provenance {
    /// No.
    Unmarked,
    /// Yes.
    Marked,
}

/// One hook of an action.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Hook {
    /// The kind of the action.
    pub kind: ActionKind,
    /// The action, by what others call it.
    pub action: String,
    /// The hook type's path, as written.
    pub name: String,
}

/// One mapped table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    /// The table on the source.
    pub source: Table,
    /// The table in the destination.
    pub target: Table,
    /// How rows are held.
    pub holding: Holding,
    /// How rows belong to tenants.
    pub tenants: Tenants,
    /// Columns, sorted by destination name.
    pub columns: Vec<Column>,
    /// Source columns that are not mirrored, sorted.
    pub skips: Vec<String>,
    /// Destination columns rows are found by, or events are told apart by, sorted. Empty means by the whole row.
    pub key: Vec<String>,
    /// Among which rows the key is unique. In the whole table where no column keeps tenants apart.
    pub key_reach: IdentityReach,
    /// Whether snapshots mark rows.
    pub provenance: Provenance,
    /// Hooks, sorted.
    pub hooks: Vec<Hook>,
    /// Truncate policy.
    pub on_truncate: OnTruncate,
    /// Schema change policy.
    pub on_schema_change: OnSchemaChange,
}

/// One column of a mapped table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// Where the value comes from.
    pub origin: ColumnOrigin,
    /// The destination column.
    pub target: String,
    /// What the declared type promises.
    pub storage: Storage,
    /// Whether losing information is accepted.
    pub fidelity: Fidelity,
    /// Whether it is stored sealed.
    pub protection: Protection,
}

/// Where a column's value comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ColumnOrigin {
    /// The source column of this name.
    Source(String),
    /// What that source column held before the change.
    Before(String),
    /// The destination makes it.
    Destination,
    /// The sink fills it.
    Stamp,
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
}
