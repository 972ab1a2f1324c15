use replicant_sink::prelude::*;

#[replicant(
    source_table = "orders", table = "order_events",
    append_log,
    multitenancy(strategy = context, schema = "tenant_{}"), //~ append_log_per_schema context
    tenant_attribute = org_id,
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
    org_id: i64,
    amount: Option<i64>,
}
