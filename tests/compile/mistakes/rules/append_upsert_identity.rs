use replicant_sink::prelude::*;

#[replicant(
    source_table = "orders", table = "order_events",
    append_log,
    on_truncate = append,
    upsert_identity = append_identity, //~ append_upsert_identity upsert_identity
    identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
    actions(read, create(append, accept = all)),
)]
struct OrderEvent {
    source_system_id: String,
    source_database: String,
    slot_name: String,
    commit_lsn: i64,
    ordinal: i64,
    operation: String,
    origin: String,
    snapshot_attempt: Option<Vec<u8>>,
    amount: Option<i64>,
    #[replicant(before = amount)]
    amount_before: Option<i64>,
}
