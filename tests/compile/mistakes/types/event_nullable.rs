use replicant_sink::prelude::*;

#[replicant(
    table = "payments", append_log,
    identity(
        append_identity,
        keys(source_system_id, source_database, slot_name, commit_lsn, ordinal),
        all_tenants,
    ),
    actions(read, create(append, accept = all)),
)]
struct Payment {
    source_system_id: String,
    source_database: String,
    slot_name: String,
    commit_lsn: i64,
    ordinal: i64,
    operation: String,
    origin: String,
    snapshot_attempt: Option<Vec<u8>>,
    amount: i64,
    #[replicant(before = amount)]
    amount_before: i64, //~ event_nullable i64
}
