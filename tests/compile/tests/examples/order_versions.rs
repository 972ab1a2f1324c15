//! A history without tenants: every version of an order with the window it was valid in and a flag for the current one.

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

#[replicant(
    source_table = "orders", table = "order_versions",
    history_strategy = scd2, history_business_key(order_id),
    history_valid_from_timestamp_attribute = valid_from, history_valid_to_timestamp_attribute = valid_to,
    history_current_attribute = is_current,
    identity(version_key, keys(order_id, valid_from_lsn)), upsert_identity = version_key,
    on_truncate = close,
    actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn, valid_to, is_current))),
)]
pub struct OrderVersion {
    #[replicant(primary_key, generated)]
    pub version_id: i64,
    #[replicant(source = "id")]
    pub order_id: Uuid,
    pub amount: Option<Decimal>,
    pub valid_from_lsn: i64,
    pub valid_to_lsn: Option<i64>,
    pub valid_from: Option<DateTime<Utc>>,
    pub valid_to: Option<DateTime<Utc>>,
    pub is_current: bool,
}

#[replicant_domain(resources(OrderVersion))]
pub struct Versions;

#[replicant_checkpoint(schema = "replicant")]
pub struct VersionsCheckpoint;

#[replicant_sink(slot_name = "shop_versions", domains(Versions), checkpoint = VersionsCheckpoint)]
pub struct VersionsSink;
