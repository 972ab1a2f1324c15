//! Legal declarations of every shape, from which the tests depart.

use crate::contract::action::{
    Accept, ActionKind, ActionRef, ActionSpec, HookSpec, Marking, MessageSpec,
};
use crate::contract::append::AppendSpec;
use crate::contract::column::{
    ColumnSpec, Nullability, Origin, Protection, Storage, Visibility, Wrapping,
};
use crate::contract::history::HistorySpec;
use crate::contract::identity::{IdentityReach, IdentitySpec};
use crate::contract::period::Period;
use crate::contract::provenance::ProvenanceSpec;
use crate::contract::resource::{ResourceSpec, Shape, TableName};
use crate::contract::sink::{CheckpointSpec, InitialState, MessageRoute, SinkKind, SinkSpec};
use crate::contract::tenancy::{Tenancy, TenancyReach, TenancyStrategy, TenantSource};

pub(super) const fn table(name: &'static str) -> TableName {
    TableName {
        schema: "public",
        table: name,
    }
}

pub(super) const fn nullable(name: &'static str, storage: Storage) -> ColumnSpec {
    ColumnSpec {
        nullability: Nullability::Nullable,
        ..ColumnSpec::new(name, storage)
    }
}

const fn stamp(column: ColumnSpec) -> ColumnSpec {
    ColumnSpec {
        origin: Origin::Stamp,
        ..column
    }
}

const fn provenance(name: &'static str) -> ColumnSpec {
    ColumnSpec {
        visibility: Visibility::Private,
        ..stamp(nullable(name, Storage::Bytes))
    }
}

const fn generated(name: &'static str) -> ColumnSpec {
    ColumnSpec {
        origin: Origin::Destination,
        ..ColumnSpec::new(name, Storage::Int8)
    }
}

const fn sealed(field: &'static str, target: &'static str) -> ColumnSpec {
    ColumnSpec {
        target,
        protection: Protection::Sealed,
        wrapping: Wrapping::Sealed,
        ..nullable(field, Storage::Text)
    }
}

const fn named(kind: ActionKind, name: &'static str, accept: Accept) -> ActionSpec {
    ActionSpec {
        name: Some(name),
        ..ActionSpec::new(kind, accept)
    }
}

const NOTHING: Accept = Accept::Fields(&[]);
const READ: ActionSpec = ActionSpec::new(ActionKind::Read, NOTHING);
const CREATE: ActionSpec = ActionSpec::new(ActionKind::Create, Accept::All);
const DESTROY: ActionSpec = ActionSpec::new(ActionKind::Destroy, NOTHING);

const BY_TENANT: Tenancy = Tenancy::Tenanted {
    strategy: TenancyStrategy::Attribute("org_id"),
    reach: TenancyReach::Scoped,
    source: Some(TenantSource::Attribute("org_id")),
};

/// Current state with a tenant, one sealed and one source-encrypted column, provenance, and a hook that writes a
/// receipt.
pub(super) static ORDER: ResourceSpec = ResourceSpec {
    rust_name: "Order",
    rust_path: "shop::Order",
    source: table("orders"),
    target: table("orders"),
    tenancy: BY_TENANT,
    columns: const {
        &[
            ColumnSpec::new("id", Storage::Uuid),
            ColumnSpec::new("org_id", Storage::Uuid),
            ColumnSpec::new("amount", Storage::Numeric),
            sealed("pan", "encrypted_pan"),
            nullable("cvv", Storage::Bytes),
            provenance("replica_fingerprint"),
            provenance("replica_seen_attempt"),
        ]
    },
    skips: &["legacy_blob"],
    sensitive: &["pan", "cvv", "legacy_blob"],
    primary_key: &["id"],
    identities: const { &[IdentitySpec::new("unique_pk", &["id"])] },
    upsert_identity: Some("unique_pk"),
    provenance: Some(ProvenanceSpec {
        mark_action: "replicant_mark_seen",
        retire_action: "replicant_retire_unseen",
        scopes: None,
    }),
    actions: const {
        &[
            READ,
            DESTROY,
            ActionSpec {
                changes: &[HookSpec {
                    name: "hooks::Receipts",
                    participants: &[ActionRef {
                        resource: "shop::Receipt",
                        action: "record",
                    }],
                }],
                validations: &["hooks::Positive"],
                touches: &["shop::Receipt"],
                ..CREATE
            },
            ActionSpec::new(ActionKind::Update, Accept::All),
            ActionSpec {
                visibility: Visibility::Private,
                marking: Marking::MarkSeen,
                ..named(ActionKind::Update, "replicant_mark_seen", NOTHING)
            },
            ActionSpec {
                visibility: Visibility::Private,
                ..named(ActionKind::Destroy, "replicant_retire_unseen", NOTHING)
            },
        ]
    },
    ..ResourceSpec::EMPTY
};

/// What the hook of an order writes.
pub(super) static RECEIPT: ResourceSpec = ResourceSpec {
    rust_name: "Receipt",
    rust_path: "shop::Receipt",
    target: table("receipts"),
    shape: Shape::Auxiliary,
    tenancy: Tenancy::Tenanted {
        strategy: TenancyStrategy::Attribute("org_id"),
        reach: TenancyReach::Scoped,
        source: None,
    },
    columns: const {
        &[
            generated("id"),
            ColumnSpec {
                origin: Origin::Action,
                ..ColumnSpec::new("org_id", Storage::Uuid)
            },
            ColumnSpec {
                origin: Origin::Action,
                ..ColumnSpec::new("total", Storage::Numeric)
            },
        ]
    },
    primary_key: &["id"],
    actions: const { &[named(ActionKind::Create, "record", Accept::All)] },
    ..ResourceSpec::EMPTY
};

/// Where mail messages go.
pub(super) static OUTBOX: ResourceSpec = ResourceSpec {
    rust_name: "MailOutbox",
    rust_path: "shop::MailOutbox",
    target: table("mail_outbox"),
    shape: Shape::Auxiliary,
    columns: const {
        &[
            generated("id"),
            ColumnSpec {
                origin: Origin::Action,
                ..ColumnSpec::new("content", Storage::Text)
            },
        ]
    },
    primary_key: &["id"],
    actions: const {
        &[ActionSpec {
            message: Some(MessageSpec {
                retention: hours(72),
                effect: None,
            }),
            ..named(ActionKind::Create, "record", Accept::Fields(&["content"]))
        }]
    },
    ..ResourceSpec::EMPTY
};

pub(super) const fn hours(hours: u64) -> Period {
    match Period::of_seconds(hours * 60 * 60) {
        Some(period) => period,
        None => panic!("no hours"),
    }
}

/// The history of order lines.
pub(super) static LINE_VERSION: ResourceSpec = ResourceSpec {
    rust_name: "LineVersion",
    rust_path: "shop::LineVersion",
    source: table("order_lines"),
    target: table("line_versions"),
    shape: Shape::History(HistorySpec {
        business_key: &["line_id"],
        valid_from_lsn: "valid_from_lsn",
        valid_to_lsn: "valid_to_lsn",
        valid_from: Some("valid_from"),
        valid_to: Some("valid_to"),
        current: Some("current"),
        close_action: "close_version",
    }),
    tenancy: BY_TENANT,
    columns: const {
        &[
            generated("version_id"),
            ColumnSpec {
                origin: Origin::Source("id"),
                ..ColumnSpec::new("line_id", Storage::Uuid)
            },
            ColumnSpec::new("org_id", Storage::Uuid),
            ColumnSpec::new("amount", Storage::Numeric),
            stamp(ColumnSpec::new("valid_from_lsn", Storage::Int8)),
            stamp(nullable("valid_to_lsn", Storage::Int8)),
            stamp(nullable("valid_from", Storage::TimestampTz)),
            stamp(nullable("valid_to", Storage::TimestampTz)),
            stamp(ColumnSpec::new("current", Storage::Bool)),
        ]
    },
    primary_key: &["version_id"],
    identities: const { &[IdentitySpec::new("version", &["line_id", "valid_from_lsn"])] },
    upsert_identity: Some("version"),
    actions: const {
        &[
            READ,
            DESTROY,
            CREATE,
            named(
                ActionKind::Update,
                "close_version",
                Accept::Fields(&["valid_to_lsn", "valid_to", "current"]),
            ),
        ]
    },
    ..ResourceSpec::EMPTY
};

/// The log of payments, which also takes messages.
pub(super) static PAYMENT_EVENT: ResourceSpec = ResourceSpec {
    rust_name: "PaymentEvent",
    rust_path: "shop::PaymentEvent",
    source: table("payments"),
    target: table("payment_events"),
    shape: Shape::AppendLog(AppendSpec {
        action: "append",
        identity: "append_identity",
        source_system: "source_system_id",
        source_database: "source_database",
        slot: "slot_name",
        commit_lsn: "commit_lsn",
        ordinal: "ordinal",
        operation: "operation",
        origin: "origin",
        attempt: "snapshot_attempt",
        unchanged: None,
        commit_timestamp: None,
        xid: None,
        message_prefix: Some("message_prefix"),
        message_content: Some("message_content"),
    }),
    columns: const {
        &[
            stamp(ColumnSpec::new("source_system_id", Storage::Text)),
            stamp(ColumnSpec::new("source_database", Storage::Text)),
            stamp(ColumnSpec::new("slot_name", Storage::Text)),
            stamp(ColumnSpec::new("commit_lsn", Storage::Int8)),
            stamp(ColumnSpec::new("ordinal", Storage::Int8)),
            stamp(ColumnSpec::new("operation", Storage::Text)),
            stamp(ColumnSpec::new("origin", Storage::Text)),
            stamp(nullable("snapshot_attempt", Storage::Bytes)),
            stamp(nullable("message_prefix", Storage::Text)),
            stamp(nullable("message_content", Storage::Bytes)),
            nullable("id", Storage::Int8),
            nullable("amount", Storage::Numeric),
            ColumnSpec {
                origin: Origin::Before("amount"),
                ..nullable("amount_before", Storage::Numeric)
            },
        ]
    },
    identities: const {
        &[IdentitySpec {
            reach: IdentityReach::AllTenants,
            ..IdentitySpec::new(
                "append_identity",
                &[
                    "source_system_id",
                    "source_database",
                    "slot_name",
                    "commit_lsn",
                    "ordinal",
                ],
            )
        }]
    },
    actions: const { &[READ, named(ActionKind::Create, "append", Accept::All)] },
    ..ResourceSpec::EMPTY
};

const CHECKPOINT: CheckpointSpec = CheckpointSpec {
    schema: "replicant",
    select_grant: None,
};

/// A mirror with messages.
pub(super) static SHOP: SinkSpec = SinkSpec {
    rust_name: "ShopSink",
    slot_name: "shop",
    domains: &[&[&ORDER, &RECEIPT], &[&LINE_VERSION, &OUTBOX]],
    ignored_sources: const { &[table("audit"), table("sessions")] },
    message_routes: &[MessageRoute {
        prefix: "mail",
        resource: "shop::MailOutbox",
        action: "record",
    }],
    ignored_message_prefixes: &["debug"],
    recovery_horizon: Some(hours(24)),
    checkpoint: CHECKPOINT,
    ..SinkSpec::EMPTY
};

/// A log with messages.
pub(super) static PAYMENTS: SinkSpec = SinkSpec {
    rust_name: "PaymentSink",
    slot_name: "payments",
    kind: SinkKind::AppendLog,
    initial_state: Some(InitialState::GoForward),
    domains: &[&[&PAYMENT_EVENT]],
    message_routes: &[MessageRoute {
        prefix: "payment",
        resource: "shop::PaymentEvent",
        action: "append",
    }],
    checkpoint: CHECKPOINT,
    ..SinkSpec::EMPTY
};
