//! What an option that was left out means: what the reference page of the options says.
#![deny(warnings)]

use replicant_sink::contract::resource::{
    Accept, ActionKind, ActionTenancy, HistorySpec, IdentityReach, OnSchemaChange, OnTruncate,
    Shape, TableName, Tenancy, Visibility,
};
use replicant_sink::contract::sink::SinkKind;
use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    identity(by_note, keys(note)),
    actions(read, destroy, create(accept = all), update(touch)),
)]
pub struct Order {
    #[replicant(primary_key)]
    pub id: i64,
    pub note: String,
}

#[replicant(
    source_table = "orders",
    table = "order_versions",
    history_strategy = scd2,
    history_business_key(order_id),
    identity(version, keys(order_id, valid_from_lsn)),
    upsert_identity = version,
    actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn))),
)]
pub struct OrderVersion {
    #[replicant(primary_key, generated)]
    pub version_id: i64,
    #[replicant(source = "id")]
    pub order_id: i64,
    pub valid_from_lsn: i64,
    pub valid_to_lsn: Option<i64>,
}

#[replicant(
    source_table = "orders",
    table = "order_events",
    append_log,
    identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
    actions(read, create(append, accept = all)),
)]
pub struct OrderEvent {
    #[replicant(primary_key, generated)]
    pub event_id: i64,
    pub source_system_id: String,
    pub source_database: String,
    pub slot_name: String,
    pub commit_lsn: i64,
    pub ordinal: i64,
    pub operation: String,
    pub origin: String,
    pub snapshot_attempt: Option<Vec<u8>>,
    pub id: Option<i64>,
}

#[replicant(
    table = "marked",
    snapshot_provenance,
    actions(
        read,
        destroy,
        create(accept = all),
        update(replicant_mark_seen, private, mark_seen),
        destroy(replicant_retire_unseen, private),
    ),
)]
pub struct Marked {
    #[replicant(primary_key)]
    pub id: i64,
    #[replicant(private)]
    pub replica_fingerprint: Option<Vec<u8>>,
    #[replicant(private)]
    pub replica_seen_attempt: Option<Vec<u8>>,
}

#[replicant_domain(resources(OrderVersion))]
pub struct Shop;

#[replicant_checkpoint(schema = "replicant")]
pub struct ShopCheckpoint;

#[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)]
pub struct ShopSink;

#[test]
fn an_option_of_a_mirror_that_is_left_out_has_its_default() {
    let order = Order::SPEC;
    let table = TableName {
        schema: "public",
        table: "orders",
    };
    assert_eq!((order.source, order.target), (table, table));
    assert_eq!(order.shape, Shape::Mirror);
    assert_eq!(order.tenancy, Tenancy::Untenanted);
    assert!(order.skips.is_empty() && order.sensitive.is_empty());
    assert_eq!(order.upsert_identity, None);
    assert_eq!(order.key_fields(), ["id"]);
    assert_eq!(order.provenance, None);
    assert_eq!(order.on_truncate, OnTruncate::Halt);
    assert_eq!(order.on_schema_change, OnSchemaChange::HaltDestructive);
    let [by_note] = order.identities else {
        panic!("one identity");
    };
    assert_eq!(
        (by_note.reach, by_note.predicate),
        (IdentityReach::Tenant, None)
    );
    let touch = order
        .actions
        .iter()
        .find(|action| action.kind == ActionKind::Update);
    let touch = touch.unwrap();
    assert_eq!(touch.accept, Accept::Fields(&[]));
    assert_eq!(touch.visibility, Visibility::Public);
    assert_eq!(touch.tenancy, ActionTenancy::Enforce);
}

#[test]
fn a_source_table_has_its_own_name_and_the_schema_public() {
    let versions = OrderVersion::SPEC;
    assert_eq!(versions.source.table, "orders");
    assert_eq!(versions.source.schema, "public");
    assert_eq!(versions.target.table, "order_versions");
    assert_eq!(versions.target.schema, "public");
}

#[test]
fn an_option_of_a_history_that_is_left_out_has_its_default() {
    assert_eq!(
        OrderVersion::SPEC.shape,
        Shape::History(HistorySpec {
            business_key: &["order_id"],
            valid_from_lsn: "valid_from_lsn",
            valid_to_lsn: "valid_to_lsn",
            valid_from: None,
            valid_to: None,
            current: None,
            close_action: "close_version",
        })
    );
}

#[test]
fn an_option_of_a_log_that_is_left_out_has_its_default() {
    let Shape::AppendLog(log) = OrderEvent::SPEC.shape else {
        panic!("a log");
    };
    assert_eq!((log.action, log.identity), ("append", "append_identity"));
    let axes = ["source_system_id", "source_database", "slot_name"];
    assert_eq!(
        log.axes(),
        [axes[0], axes[1], axes[2], "commit_lsn", "ordinal"]
    );
    assert_eq!(
        (log.operation, log.origin, log.attempt),
        ("operation", "origin", "snapshot_attempt")
    );
    assert_eq!(
        (log.unchanged, log.commit_timestamp, log.xid),
        (None, None, None)
    );
    assert_eq!((log.message_prefix, log.message_content), (None, None));
}

#[test]
fn an_option_of_provenance_that_is_left_out_has_its_default() {
    let marks = Marked::SPEC.provenance.unwrap();
    assert_eq!(marks.mark_action, "replicant_mark_seen");
    assert_eq!(marks.retire_action, "replicant_retire_unseen");
    assert_eq!(marks.scopes, None);
}

#[test]
fn an_option_of_a_sink_that_is_left_out_has_its_default() {
    let sink = ShopSink::SPEC;
    assert_eq!(sink.kind, SinkKind::StateMirror);
    assert_eq!(sink.initial_state, None);
    assert_eq!(sink.ignored_sources, []);
    assert!(sink.message_routes.is_empty() && sink.ignored_message_prefixes.is_empty());
    assert_eq!(sink.recovery_horizon, None);
    assert_eq!(sink.checkpoint.select_grant, None);
}
