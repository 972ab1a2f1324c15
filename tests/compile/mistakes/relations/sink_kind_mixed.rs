use replicant_sink::prelude::*;

#[replicant(
    source_table = "orders", table = "order_events",
    append_log,
    on_truncate = append,
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

#[replicant_domain(resources(OrderEvent))]
struct Log;

#[replicant(table = "customers", actions(read, destroy, create(accept = all)))]
struct Customer {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}

#[replicant_domain(resources(Customer))]
struct Crm;


#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(
    slot_name = "log",
    sink_kind = append_log,
    initial_state = go_forward,
    domains(Log, Crm), //~ sink_kind_mixed Crm
    checkpoint = Checkpoint,
)]
struct Sink;
