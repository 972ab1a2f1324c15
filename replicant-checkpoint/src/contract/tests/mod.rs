//! What the contract promises, as data: specifications in, judgements out.

mod drift;
mod encode;
mod manifest;
mod relations;
mod rules;

use super::resource::{
    Accept, ActionKind, ActionSpec, ColumnSpec, Fidelity, IdentitySpec, Nullability,
    OnSchemaChange, OnTruncate, Origin, ResourceSpec, Shape, Storage, TableName, Visibility,
};
use super::sink::{CheckpointSpec, SinkSpec};

const fn column(name: &'static str, storage: Storage) -> ColumnSpec {
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

const fn action(kind: ActionKind, accept: Accept) -> ActionSpec {
    ActionSpec {
        kind,
        name: None,
        accept,
    }
}

const ACTIONS: &[ActionSpec] = &[
    action(ActionKind::Read, Accept::Fields(&[])),
    action(ActionKind::Create, Accept::All),
    action(ActionKind::Destroy, Accept::Fields(&[])),
];

const fn table(name: &'static str) -> TableName {
    TableName {
        schema: "public",
        table: name,
    }
}

const fn resource(
    rust_name: &'static str,
    source: &'static str,
    target: &'static str,
) -> ResourceSpec {
    ResourceSpec {
        rust_name,
        source: table(source),
        target: table(target),
        shape: Shape::Mirror,
        columns: const {
            &[
                column("id", Storage::Int8),
                column("note", Storage::Text),
                column("amount", Storage::Numeric),
            ]
        },
        skips: &["legacy_blob"],
        primary_key: &["id"],
        identities: &[IdentitySpec {
            name: "by_note",
            keys: &["note"],
        }],
        upsert_identity: None,
        on_truncate: OnTruncate::Halt,
        on_schema_change: OnSchemaChange::HaltDestructive,
        actions: ACTIONS,
        broken: false,
    }
}

static ORDERS: ResourceSpec = resource("Order", "orders", "orders");
static ITEMS: ResourceSpec = resource("Item", "items", "order_items");

const fn sink(domains: &'static [&'static [&'static ResourceSpec]]) -> SinkSpec {
    SinkSpec {
        rust_name: "ShopSink",
        slot_name: "shop",
        domains,
        ignored_sources: &[],
        checkpoint: CheckpointSpec {
            schema: "replicant",
            select_grant: None,
        },
    }
}

fn shop() -> SinkSpec {
    SinkSpec {
        ignored_sources: const { &[table("audit"), table("sessions")] },
        ..sink(const { &[&[&ORDERS], &[&ITEMS]] })
    }
}
