//! What is mirrored, declared once: a struct per table, a domain, a checkpoint and a sink.

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

/// Somebody who buys.
#[replicant(
    table = "customers",
    actions(read, destroy, create(accept = all), update(accept = all))
)]
pub struct Customer {
    /// Assigned by the shop; it can change.
    #[replicant(primary_key)]
    pub id: Uuid,
    /// Unique in the shop.
    pub email: String,
    /// As written on parcels.
    pub name: String,
    /// May be anything a `numeric` holds.
    pub credit: Decimal,
    /// Often too large to be stored in the row.
    pub preferences: serde_json::Value,
    /// Since when.
    pub created_at: DateTime<Utc>,
    /// What the staff should know.
    pub note: Option<String>,
}

/// Something that is sold.
#[replicant(
    table = "products",
    actions(read, destroy, create(accept = all), update(accept = all))
)]
pub struct Product {
    /// Assigned by the shop.
    #[replicant(primary_key)]
    pub id: i64,
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
}

/// A purchase.
#[replicant(
    table = "orders",
    actions(read, destroy, create(accept = all), update(accept = all))
)]
pub struct Order {
    /// Assigned by the shop.
    #[replicant(primary_key)]
    pub id: Uuid,
    /// Who buys.
    pub customer_id: Uuid,
    /// `placed`, `paid`, `shipped`.
    pub status: String,
    /// Of all lines.
    pub total: Decimal,
    /// When it was placed.
    pub placed_at: DateTime<Utc>,
    /// When it left.
    pub shipped_at: Option<DateTime<Utc>>,
    /// How it is packed, paid and sent.
    pub details: serde_json::Value,
}

/// One line of a purchase.
#[replicant(
    table = "order_lines",
    actions(read, destroy, create(accept = all), update(accept = all))
)]
pub struct OrderLine {
    /// Of which purchase.
    #[replicant(primary_key)]
    pub order_id: Uuid,
    /// Its place there.
    #[replicant(primary_key)]
    pub line_no: i32,
    /// What is bought.
    pub product_id: i64,
    /// How many.
    pub quantity: i64,
    /// At which price.
    pub unit_price: Decimal,
    /// A wish of the customer.
    pub remark: Option<String>,
}

/// Everything the shop mirrors.
#[replicant_domain(resources(Customer, Product, Order, OrderLine))]
pub struct Shop;

/// Where the mirror remembers how far it is.
#[replicant_checkpoint(schema = "replicant")]
pub struct ShopCheckpoint;

/// The shop's sink. Audit events are published for somebody else.
#[replicant_sink(
    slot_name = "shop_mirror",
    domains(Shop),
    checkpoint = ShopCheckpoint,
    ignored_sources("public.audit_events")
)]
pub struct ShopSink;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_and_the_example_database_agree() {
        let declared: Vec<&str> = ShopSink::SPEC
            .resources()
            .map(|resource| resource.target.table)
            .collect();
        let created: Vec<&str> = crate::schema::TABLES.map(|table| table.name).into();
        assert_eq!(declared, created);
        assert_eq!(ShopSink::SPEC.slot_name, crate::schema::SLOT);
    }
}
