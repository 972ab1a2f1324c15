//! What of a declaration is stored beside the watermark: everything that changes the meaning of destination rows.
//!
//! A manifest holds names and closed words, never a value. It identifies a relation by its source and destination
//! table, never by a Rust path, so moving a module changes nothing. It is sorted, so declaration order changes
//! nothing either. [`encode`](super::encode) turns it into bytes and [`drift`](super::drift) compares two.

use std::collections::BTreeSet;

use super::resource::{
    ColumnSpec, Fidelity, OnSchemaChange, OnTruncate, ResourceSpec, Shape, Storage, TableName,
};
use super::sink::SinkSpec;

/// Version of the canonical bytes. It grows with every change of [`Manifest`]'s shape.
pub const MANIFEST_VERSION: u8 = 1;

/// What one checkpoint was reached under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// What the source was asked to send.
    pub stream: Stream,
    /// Mapped tables, sorted by source.
    pub relations: Vec<Relation>,
    /// Published tables that are deliberately dropped, sorted.
    pub ignores: Vec<Table>,
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
    /// The schema.
    pub schema: String,
    /// The table.
    pub table: String,
}

/// How a mapped table's rows are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holding {
    /// Current state.
    Mirror,
    /// Versions.
    History,
    /// Events.
    AppendLog,
}

/// One mapped table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    /// The table on the source.
    pub source: Table,
    /// The table in the destination.
    pub target: Table,
    /// How rows are held.
    pub shape: Holding,
    /// Columns, sorted by destination name.
    pub columns: Vec<Column>,
    /// Source columns that are not mirrored, sorted.
    pub skips: Vec<String>,
    /// Destination columns rows are found by, sorted. Empty means by the whole row.
    pub key: Vec<String>,
    /// Truncate policy.
    pub on_truncate: OnTruncate,
    /// Schema change policy.
    pub on_schema_change: OnSchemaChange,
}

/// One column of a mapped table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The source column; `None` when the destination makes the value.
    pub source: Option<String>,
    /// The destination column.
    pub target: String,
    /// What the declared type promises.
    pub storage: Storage,
    /// Whether losing information is accepted.
    pub fidelity: Fidelity,
}

impl Manifest {
    /// The manifest of a sink that reads these publications. The order of declarations, fields and publications
    /// does not matter.
    pub fn new<P: AsRef<str>>(sink: &SinkSpec, publications: &[P]) -> Self {
        // The slot is half of the checkpoint's key already, and the checkpoint's place is where this is read from.
        let SinkSpec {
            rust_name: _,
            slot_name: _,
            kind: _,
            initial_state: _,
            domains: _,
            ignored_sources,
            message_routes: _,
            ignored_message_prefixes: _,
            recovery_horizon: _,
            checkpoint: _,
        } = sink;
        let mut relations: Vec<Relation> = sink.mapped().map(Relation::new).collect();
        relations.sort_by(|a, b| (&a.source, &a.target).cmp(&(&b.source, &b.target)));
        Self {
            stream: Stream::Pgoutput {
                publications: sorted(publications.iter().map(|name| name.as_ref().to_owned())),
            },
            relations,
            ignores: sorted(ignored_sources.iter().map(Table::new)),
        }
    }
}

impl Table {
    fn new(name: &TableName) -> Self {
        let TableName { schema, table } = *name;
        Self {
            schema: schema.to_owned(),
            table: table.to_owned(),
        }
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.table)
    }
}

impl Relation {
    fn new(spec: &ResourceSpec) -> Self {
        // Rust names are not part of the contract. An identity matters through the key rows are found by. Actions
        // are judged by the rules and decide who may write, not what a stored row means.
        let ResourceSpec {
            rust_name: _,
            rust_path: _,
            source,
            target,
            shape,
            tenancy: _,
            columns,
            skips,
            sensitive: _,
            primary_key: _,
            identities: _,
            upsert_identity: _,
            provenance: _,
            on_truncate,
            on_schema_change,
            actions: _,
            broken: _,
        } = spec;
        let target_of = |field: &&str| spec.column(field).map(|column| column.target.to_owned());
        let mut columns: Vec<Column> = columns.iter().map(Column::new).collect();
        columns.sort_by(|a, b| (&a.target, &a.source).cmp(&(&b.target, &b.source)));
        Self {
            source: Table::new(source),
            target: Table::new(target),
            shape: match shape {
                Shape::Mirror | Shape::Auxiliary => Holding::Mirror,
                Shape::History(_) => Holding::History,
                Shape::AppendLog(_) => Holding::AppendLog,
            },
            columns,
            skips: sorted(skips.iter().map(|name| (*name).to_owned())),
            key: sorted(spec.key_fields().iter().filter_map(target_of)),
            on_truncate: *on_truncate,
            on_schema_change: *on_schema_change,
        }
    }
}

impl Column {
    fn new(spec: &ColumnSpec) -> Self {
        // Nullability bounds what admission accepts from the catalogs; a stored row means the same either way.
        // `accept` and the type migrations write do not change a stored row's meaning either.
        let ColumnSpec {
            field: _,
            origin,
            target,
            storage,
            nullability: _,
            fidelity,
            protection: _,
            wrapping: _,
            visibility: _,
            sql_type: _,
        } = *spec;
        Self {
            source: origin.source().map(str::to_owned),
            target: target.to_owned(),
            storage,
            fidelity,
        }
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<T>>().into_iter().collect()
}
