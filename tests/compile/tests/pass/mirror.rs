//! The whole current-state subset in one file.
#![deny(warnings)]

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

#[replicant(
    source_schema = "public", source_table = "orders", schema = "mirror", table = "orders",
    skip(legacy_blob, "Old Name", type),
    on_truncate = mirror,
    on_schema_change = ignore,
    identity(by_number, keys(number)),
    upsert_identity = by_number,
    actions(read, destroy, create(accept = all), update(accept = all), update(close, accept(amount, r#match))),
)]
#[derive(Clone, PartialEq)]
pub struct Order {
    #[replicant(primary_key, generated)]
    pub id: i64,
    #[replicant(source = "id", column = "number")]
    pub number: Uuid,
    #[replicant(lossy, sql_type = "numeric(12,2)")]
    pub amount: Option<Decimal>,
    pub placed_at: DateTime<Utc>,
    pub r#match: Vec<Option<i32>>,
    pub note: PgText,
}

type Nullable = Option<String>;

#[replicant(table = countries, actions(read, create(accept(code, name)), destroy))]
struct Country {
    #[replicant(primary_key)]
    code: String,
    name: Nullable,
}

/// Legal without a key: rows are found by comparing whole rows.
#[replicant(table = "audit", actions(read, create(accept = all), destroy))]
struct Audit {
    what: String,
}

#[replicant_domain(resources(Order, Country, self::Audit))]
pub struct Shop;

#[replicant_checkpoint(schema = "replicant", grants(select = "ops"))]
pub struct ShopCheckpoint;

#[replicant_sink(
    slot_name = "shop_orders",
    domains(Shop),
    checkpoint = ShopCheckpoint,
    ignored_sources("public.audit_events", "public.sessions"),
)]
pub struct ShopSink;

#[test]
fn the_whole_subset_is_legal() {
    let sink = ShopSink::SPEC;
    assert_eq!(sink.resources().count(), 3);
    assert_eq!(replicant_sink::contract::rules::sink(&sink), vec![]);
    let order = <Order as Resource>::SPEC;
    assert_eq!(order.key_fields(), ["number"]);
    assert_eq!(order.skips, ["legacy_blob", "Old Name", "type"]);
    assert_eq!(
        order.column("match").map(|column| column.target),
        Some("match")
    );
}
