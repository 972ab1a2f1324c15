//! Short spellings of declarations.

use replicant_checkpoint::contract::resource::{
    ColumnSpec, Fidelity, IdentitySpec, Nullability, OnSchemaChange, OnTruncate, Origin,
    ResourceSpec, Shape, Storage, TableName, Visibility,
};
use replicant_checkpoint::contract::sink::{CheckpointSpec, SinkSpec};

pub(super) const fn column(name: &'static str, storage: Storage) -> ColumnSpec {
    ColumnSpec {
        field: name,
        origin: Origin::Source(name),
        target: name,
        storage,
        nullability: Nullability::NotNull,
        fidelity: Fidelity::Lossless,
        visibility: Visibility::Public,
        sql_type: None,
    }
}

/// A column of any type.
pub(super) const fn any(name: &'static str) -> ColumnSpec {
    column(name, Storage::Any)
}

/// `public.<table>` mirrored into `mirror.<table>`.
pub(super) fn resource(
    table: &'static str,
    columns: &[ColumnSpec],
    primary_key: &[&'static str],
) -> ResourceSpec {
    ResourceSpec {
        rust_name: "Declared",
        source: TableName {
            schema: "public",
            table,
        },
        target: TableName {
            schema: "mirror",
            table,
        },
        shape: Shape::Mirror,
        columns: leak(columns),
        skips: &[],
        primary_key: leak(primary_key),
        identities: &[],
        upsert_identity: None,
        on_truncate: OnTruncate::Halt,
        on_schema_change: OnSchemaChange::HaltDestructive,
        actions: &[],
        broken: false,
    }
}

/// The same resource, found by an identity of these fields.
pub(super) fn found_by(mut resource: ResourceSpec, keys: &[&'static str]) -> ResourceSpec {
    resource.identities = leak(&[IdentitySpec {
        name: "found_by",
        keys: leak(keys),
    }]);
    resource.upsert_identity = Some("found_by");
    resource
}

pub(super) fn sink(resources: &[ResourceSpec]) -> SinkSpec {
    let resources: Vec<&'static ResourceSpec> = leak(resources).iter().collect();
    SinkSpec {
        rust_name: "Sink",
        slot_name: "slot",
        domains: leak(&[leak(&resources)]),
        ignored_sources: &[],
        checkpoint: CheckpointSpec {
            schema: "replicant",
            select_grant: None,
        },
    }
}

fn leak<T: Copy>(items: &[T]) -> &'static [T] {
    Box::leak(items.to_vec().into_boxed_slice())
}
