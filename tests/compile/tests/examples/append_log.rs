//! An append log: one destination row for each change of the source, never updated, with the value before it.

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

#[replicant(
    source_table = "orders", table = "order_events",
    append_log,
    append_unchanged_attribute = unchanged,
    append_commit_timestamp_attribute = committed_at,
    append_xid_attribute = xid,
    on_truncate = append,
    identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
    actions(read, create(append, accept = all)),
)]
pub struct OrderEvent {
    #[replicant(primary_key, generated)]
    pub event_id: i64,
    // What is known about every event; the names are the defaults of append_*_attribute.
    pub source_system_id: String,
    pub source_database: String,
    pub slot_name: String,
    pub commit_lsn: i64,
    pub ordinal: i64,
    pub operation: String,
    pub origin: String,
    pub snapshot_attempt: Option<Vec<u8>>,
    pub unchanged: Vec<String>,
    pub committed_at: Option<DateTime<Utc>>,
    pub xid: Option<i64>,
    // What the row held: after the change, and before it.
    pub id: Option<Uuid>,
    pub amount: Option<Decimal>,
    #[replicant(before = amount)]
    pub amount_before: Option<Decimal>,
}

#[replicant_domain(resources(OrderEvent))]
pub struct Events;

#[replicant_checkpoint(schema = "replicant")]
pub struct EventsCheckpoint;

#[replicant_sink(
    slot_name = "shop_events",
    sink_kind = append_log,
    initial_state = go_forward,
    domains(Events),
    checkpoint = EventsCheckpoint,
)]
pub struct EventsSink;
