//! A shop's orders: current state, tenant-scoped, with one sealed and one source-encrypted column.

use replicant_sink::prelude::*;
use rust_decimal::Decimal;
use uuid::Uuid;

/// Current state, tenant-scoped, one sealed and one source-encrypted column.
#[replicant(
    source_schema = "public", source_table = "orders", table = "orders",
    multitenancy(strategy = attribute, attribute = org_id),     // or strategy = context, schema = "tenant_{}"; flag: global
    tenant_attribute = org_id,                                   // or tenant_fn(path = crate::tenants::of, args("eu"))
    sensitive(pan, cvv),
    skip(legacy_blob),
    on_truncate = mirror,                                        // halt (default) | mirror | close | append
    on_schema_change = halt_destructive,                         // default | ignore
    identity(unique_pk, keys(id)),
    upsert_identity = unique_pk,                                 // default: primary key
    actions(read, destroy, create(accept = all), update(accept = all)),
)]
pub struct Order {
    #[replicant(primary_key)]
    pub id: Uuid,
    pub org_id: Uuid,
    pub amount: Decimal,
    #[replicant(encrypted)] // destination column encrypted_pan bytea
    pub pan: Sealed<String>,
    pub cvv: Vec<u8>, // bytea on the source: encrypted by the source application
}

#[replicant_domain(resources(Order))]
pub struct Shop;
#[replicant_checkpoint(schema = "replicant")] // default-deny: revoked from public; grants(select = "ops")
pub struct ShopCheckpoint;
#[replicant_sink(slot_name = "shop_orders", domains(Shop), checkpoint = ShopCheckpoint, ignored_sources("public.audit_events"))]
pub struct ShopSink;
