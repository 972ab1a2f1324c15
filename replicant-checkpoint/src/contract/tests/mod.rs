//! What the contract promises, as data: specifications in, judgements out.

mod cases;
mod declarations;
mod drift;
mod encode;
mod fields;
mod manifest;
mod relations;
mod rules;
mod wording;

use super::resource::{
    Accept, ActionKind, ActionSpec, ColumnSpec, IdentitySpec, ResourceSpec, Storage, TableName,
};
use super::sink::{CheckpointSpec, SinkSpec};

const ACTIONS: &[ActionSpec] = &[
    ActionSpec::new(ActionKind::Read, Accept::Fields(&[])),
    ActionSpec::new(ActionKind::Create, Accept::All),
    ActionSpec::new(ActionKind::Destroy, Accept::Fields(&[])),
];

const fn column(name: &'static str, storage: Storage) -> ColumnSpec {
    ColumnSpec::new(name, storage)
}

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
        rust_path: rust_name,
        source: table(source),
        target: table(target),
        columns: const {
            &[
                column("id", Storage::Int8),
                column("note", Storage::Text),
                column("amount", Storage::Numeric),
            ]
        },
        skips: &["legacy_blob"],
        primary_key: &["id"],
        identities: const { &[IdentitySpec::new("by_note", &["note"])] },
        actions: ACTIONS,
        ..ResourceSpec::EMPTY
    }
}

static ORDERS: ResourceSpec = resource("Order", "orders", "orders");
static ITEMS: ResourceSpec = resource("Item", "items", "order_items");

const fn sink(domains: &'static [&'static [&'static ResourceSpec]]) -> SinkSpec {
    SinkSpec {
        rust_name: "ShopSink",
        slot_name: "shop",
        domains,
        checkpoint: CheckpointSpec {
            schema: "replicant",
            select_grant: None,
        },
        ..SinkSpec::EMPTY
    }
}

fn shop() -> SinkSpec {
    SinkSpec {
        ignored_sources: const { &[table("audit"), table("sessions")] },
        ..sink(const { &[&[&ORDERS], &[&ITEMS]] })
    }
}
