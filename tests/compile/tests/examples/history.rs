//! The history of the same orders: every version with the window it was valid in, in a sink and slot of its own.

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

/// History of the same table, in a sink (and slot) of its own.
#[replicant(
    source_table = "orders", table = "order_versions",
    multitenancy(strategy = attribute, attribute = org_id), tenant_attribute = org_id,
    sensitive(pan, cvv), skip(legacy_blob, pan, cvv),
    history_strategy = scd2, history_business_key(order_id),
    history_valid_from_timestamp_attribute = valid_from, history_valid_to_timestamp_attribute = valid_to,
    identity(version_key, keys(order_id, valid_from_lsn)), upsert_identity = version_key,
    on_truncate = close,
    actions(read, destroy, create(accept = all), update(close_version, accept(valid_to_lsn, valid_to))),
)]
pub struct OrderVersion {
    #[replicant(primary_key, generated)]
    pub version_id: i64,
    #[replicant(source = "id")]
    pub order_id: Uuid,
    pub org_id: Uuid,
    pub amount: Decimal,
    pub valid_from_lsn: i64,
    pub valid_to_lsn: Option<i64>,
    pub valid_from: Option<DateTime<Utc>>,
    pub valid_to: Option<DateTime<Utc>>,
}

#[replicant_domain(resources(OrderVersion))]
pub struct History;

#[replicant_checkpoint(schema = "replicant")]
pub struct HistoryCheckpoint;

#[replicant_sink(slot_name = "shop_history", domains(History), checkpoint = HistoryCheckpoint)]
pub struct HistorySink;
