//! Short spellings of declarations.

use replicant_checkpoint::contract::resource::{
    Accept, ActionKind, ActionSpec, ColumnSpec, IdentitySpec, ResourceSpec, Storage, TableName,
};
use replicant_checkpoint::contract::sink::{CheckpointSpec, SinkSpec};

pub(super) const fn column(name: &'static str, storage: Storage) -> ColumnSpec {
    ColumnSpec::new(name, storage)
}

/// A column of any type.
pub(super) const fn any(name: &'static str) -> ColumnSpec {
    column(name, Storage::Any)
}

const ACTIONS: &[ActionSpec] = &[
    ActionSpec::new(ActionKind::Read, Accept::Fields(&[])),
    ActionSpec::new(ActionKind::Create, Accept::All),
    ActionSpec::new(ActionKind::Destroy, Accept::Fields(&[])),
];

/// `public.<table>` mirrored into `mirror.<table>`.
pub(super) fn resource(
    table: &'static str,
    columns: &[ColumnSpec],
    primary_key: &[&'static str],
) -> ResourceSpec {
    ResourceSpec {
        rust_name: table,
        source: TableName {
            schema: "public",
            table,
        },
        target: TableName {
            schema: "mirror",
            table,
        },
        columns: leak(columns),
        primary_key: leak(primary_key),
        actions: ACTIONS,
        ..ResourceSpec::EMPTY
    }
}

/// The same resource, found by an identity of these fields.
pub(super) fn found_by(mut resource: ResourceSpec, keys: &[&'static str]) -> ResourceSpec {
    resource.identities = leak(&[IdentitySpec::new("found_by", leak(keys))]);
    resource.upsert_identity = Some("found_by");
    resource
}

pub(super) fn sink(resources: &[ResourceSpec]) -> SinkSpec {
    let resources: Vec<&'static ResourceSpec> = leak(resources).iter().collect();
    SinkSpec {
        rust_name: "Sink",
        slot_name: "slot",
        domains: leak(&[leak(&resources)]),
        checkpoint: CheckpointSpec {
            schema: "replicant",
            select_grant: None,
        },
        ..SinkSpec::EMPTY
    }
}

fn leak<T: Copy>(items: &[T]) -> &'static [T] {
    Box::leak(items.to_vec().into_boxed_slice())
}
