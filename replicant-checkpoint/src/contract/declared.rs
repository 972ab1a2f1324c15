//! What was written, before anything is known about types: the names that the `names` rules judge.
//!
//! The macros build it from tokens, admission from a compiled specification. A part that the macros could not read
//! is absent here, because its mistake is reported already.

use super::resource::{Accept, ActionKind, Origin, ResourceSpec, Visibility};
use super::sink::{CheckpointSpec, SinkSpec};

/// A resource as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredResource {
    /// The struct's name.
    pub rust_name: String,
    /// Schema of the source table.
    pub source_schema: Option<String>,
    /// The source table.
    pub source_table: Option<String>,
    /// Schema of the destination table.
    pub schema: Option<String>,
    /// The destination table.
    pub table: Option<String>,
    /// Columns in field order.
    pub columns: Vec<DeclaredColumn>,
    /// Skipped source columns.
    pub skips: Vec<String>,
    /// Fields of the primary key.
    pub primary_key: Vec<String>,
    /// Identities.
    pub identities: Vec<DeclaredIdentity>,
    /// The identity rows are found by.
    pub upsert_identity: Option<String>,
    /// Actions; `None` when there was no readable `actions(...)`.
    pub actions: Option<Vec<DeclaredAction>>,
}

/// A field as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredColumn {
    /// The field's name.
    pub field: String,
    /// The source column; `None` when the destination makes the value.
    pub source: Option<String>,
    /// The destination column.
    pub target: String,
    /// Whether actions may accept it.
    pub visibility: Visibility,
    /// The type migrations write.
    pub sql_type: Option<String>,
}

/// An identity as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredIdentity {
    /// Its name.
    pub name: String,
    /// Its fields; `None` when there was no readable `keys(...)`.
    pub keys: Option<Vec<String>>,
}

/// An action as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredAction {
    /// What it does.
    pub kind: ActionKind,
    /// Its name, unless it is the primary of its kind.
    pub name: Option<String>,
    /// Which fields it may set.
    pub accept: DeclaredAccept,
}

/// An accept list as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeclaredAccept {
    /// `accept = all`.
    All,
    /// `accept(a, b)`, or nothing at all.
    Fields(Vec<String>),
}

/// A checkpoint as written.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredCheckpoint {
    /// Schema of the checkpoint tables.
    pub schema: Option<String>,
    /// The role that may read them.
    pub select_grant: Option<String>,
}

/// A sink as written, without what its domains hold.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DeclaredSink {
    /// The slot.
    pub slot_name: Option<String>,
    /// Ignored tables, each "schema.table".
    pub ignored_sources: Vec<String>,
}

impl From<&ResourceSpec> for DeclaredResource {
    fn from(spec: &ResourceSpec) -> Self {
        let ResourceSpec {
            rust_name,
            source,
            target,
            shape: _,
            columns,
            skips,
            primary_key,
            identities,
            upsert_identity,
            on_truncate: _,
            on_schema_change: _,
            actions,
            broken: _,
        } = spec;
        Self {
            rust_name: (*rust_name).to_owned(),
            source_schema: Some(source.schema.to_owned()),
            source_table: Some(source.table.to_owned()),
            schema: Some(target.schema.to_owned()),
            table: Some(target.table.to_owned()),
            columns: columns
                .iter()
                .map(|column| DeclaredColumn {
                    field: column.field.to_owned(),
                    source: match column.origin {
                        Origin::Source(name) => Some(name.to_owned()),
                        Origin::Destination => None,
                    },
                    target: column.target.to_owned(),
                    visibility: column.visibility,
                    sql_type: column.sql_type.map(str::to_owned),
                })
                .collect(),
            skips: owned(skips),
            primary_key: owned(primary_key),
            identities: identities
                .iter()
                .map(|identity| DeclaredIdentity {
                    name: identity.name.to_owned(),
                    keys: Some(owned(identity.keys)),
                })
                .collect(),
            upsert_identity: upsert_identity.map(str::to_owned),
            actions: Some(
                actions
                    .iter()
                    .map(|action| DeclaredAction {
                        kind: action.kind,
                        name: action.name.map(str::to_owned),
                        accept: match action.accept {
                            Accept::All => DeclaredAccept::All,
                            Accept::Fields(fields) => DeclaredAccept::Fields(owned(fields)),
                        },
                    })
                    .collect(),
            ),
        }
    }
}

impl From<&CheckpointSpec> for DeclaredCheckpoint {
    fn from(spec: &CheckpointSpec) -> Self {
        let CheckpointSpec {
            schema,
            select_grant,
        } = *spec;
        Self {
            schema: Some(schema.to_owned()),
            select_grant: select_grant.map(str::to_owned),
        }
    }
}

impl From<&SinkSpec> for DeclaredSink {
    fn from(spec: &SinkSpec) -> Self {
        Self {
            slot_name: Some(spec.slot_name.to_owned()),
            ignored_sources: spec
                .ignored_sources
                .iter()
                .map(|name| format!("{}.{}", name.schema, name.table))
                .collect(),
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
