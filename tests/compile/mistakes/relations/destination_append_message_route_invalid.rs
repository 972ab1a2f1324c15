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
    message_prefix: Option<String>,
    amount: Option<i64>,
    #[replicant(before = amount)]
    amount_before: Option<i64>,
}

#[replicant_domain(resources(OrderEvent))]
struct Log;

#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(
    slot_name = "log",
    sink_kind = append_log,
    initial_state = go_forward,
    domains(Log),
    checkpoint = Checkpoint,
    message_routes(route("order", OrderEvent, append)), //~ destination_append_message_route_invalid append
)]
struct Sink;
