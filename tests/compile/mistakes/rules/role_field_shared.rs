use replicant_sink::prelude::*;

#[replicant(
    source_table = "orders", table = "order_versions",
    history_strategy = scd2,
    history_business_key(order_id),
    identity(version, keys(order_id, valid_from_lsn)),
    upsert_identity = version,
    history_valid_from_timestamp_attribute = valid_to,
    history_valid_to_timestamp_attribute = valid_to, //~ role_field_shared valid_to
    on_truncate = close,
    actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn, valid_to))),
)]
struct OrderVersion {
    #[replicant(primary_key, generated)]
    version_id: i64,
    #[replicant(source = "id")]
    order_id: i64,
    amount: i64,
    valid_from_lsn: i64,
    valid_to_lsn: Option<i64>,
    valid_from: Option<chrono::DateTime<chrono::Utc>>,
    valid_to: Option<chrono::DateTime<chrono::Utc>>,
}
