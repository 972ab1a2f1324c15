//! What is kept of the products besides their current state: every version, and every change.

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

/// Every version of a product and when it was valid.
#[replicant(
    source_table = "products", table = "product_versions",
    history_strategy = scd2, history_business_key(product_id),
    history_valid_from_timestamp_attribute = valid_from,
    history_valid_to_timestamp_attribute = valid_to,
    history_current_attribute = is_current,
    identity(version_key, keys(product_id, valid_from_lsn)),
    upsert_identity = version_key,
    on_truncate = close,
    actions(
        read, destroy, create(accept = all),
        update(close_version, accept(valid_to_lsn, valid_to, is_current))
    ),
)]
pub struct ProductVersion {
    /// Assigned by the destination.
    #[replicant(primary_key, generated)]
    pub version_id: i64,
    /// The shop's key.
    #[replicant(source = "id")]
    pub product_id: i64,
    /// The supplier's key.
    pub sku: Uuid,
    /// As shown.
    pub name: String,
    /// Unknown for what is made on demand.
    pub stock: Option<i32>,
    /// Of one piece.
    pub price: Decimal,
    /// Whether it is on sale.
    pub active: bool,
    /// Last change.
    pub updated_at: DateTime<Utc>,
    /// Whatever the supplier says.
    pub attributes: Option<serde_json::Value>,
    /// The commit that made it.
    pub valid_from_lsn: i64,
    /// The commit that replaced it.
    pub valid_to_lsn: Option<i64>,
    /// When that was, by the shop's clock.
    pub valid_from: Option<DateTime<Utc>>,
    /// When that was, by the shop's clock.
    pub valid_to: Option<DateTime<Utc>>,
    /// Is it the product's state now?
    pub is_current: bool,
}

/// Every change of a product.
#[replicant(
    source_table = "products", table = "product_events",
    append_log,
    append_unchanged_attribute = unchanged,
    append_commit_timestamp_attribute = committed_at,
    on_truncate = append,
    identity(
        append_identity, all_tenants,
        keys(source_system_id, source_database, slot_name, commit_lsn, ordinal)
    ),
    actions(read, create(append, accept = all)),
)]
pub struct ProductEvent {
    /// Assigned by the destination.
    #[replicant(primary_key, generated)]
    pub event_id: i64,
    /// Which server.
    pub source_system_id: String,
    /// Which of its databases.
    pub source_database: String,
    /// Through which slot.
    pub slot_name: String,
    /// In which transaction.
    pub commit_lsn: i64,
    /// Its place there.
    pub ordinal: i64,
    /// `insert`, `update`, `delete` or `truncate`.
    pub operation: String,
    /// How it came.
    pub origin: String,
    /// Of a copy of the table.
    pub snapshot_attempt: Option<Vec<u8>>,
    /// What the update left alone.
    pub unchanged: Vec<String>,
    /// When, by the shop's clock.
    pub committed_at: Option<DateTime<Utc>>,
    /// The shop's key.
    pub id: Option<i64>,
    /// The supplier's key.
    pub sku: Option<Uuid>,
    /// As shown.
    pub name: Option<String>,
    /// Unknown for what is made on demand.
    pub stock: Option<i32>,
    /// Of one piece.
    pub price: Option<Decimal>,
    /// Whether it is on sale.
    pub active: Option<bool>,
    /// Last change.
    pub updated_at: Option<DateTime<Utc>>,
    /// Whatever the supplier says.
    pub attributes: Option<serde_json::Value>,
}

/// Everything whose versions are kept.
#[replicant_domain(resources(ProductVersion))]
pub struct Versions;

/// Everything whose changes are kept.
#[replicant_domain(resources(ProductEvent))]
pub struct Events;

/// Where the history remembers how far it is.
#[replicant_checkpoint(schema = "replicant")]
pub struct VersionsCheckpoint;

/// Where the log remembers how far it is.
#[replicant_checkpoint(schema = "replicant")]
pub struct EventsCheckpoint;

/// The history's sink. The other tables are published for the mirror.
#[replicant_sink(
    slot_name = "shop_versions",
    domains(Versions),
    checkpoint = VersionsCheckpoint,
    ignored_sources("public.customers", "public.orders", "public.order_lines", "public.audit_events")
)]
pub struct VersionsSink;

/// The log's sink. The other tables are published for the mirror.
#[replicant_sink(
    slot_name = "shop_events",
    sink_kind = append_log,
    initial_state = go_forward,
    domains(Events),
    checkpoint = EventsCheckpoint,
    ignored_sources("public.customers", "public.orders", "public.order_lines", "public.audit_events")
)]
pub struct EventsSink;
