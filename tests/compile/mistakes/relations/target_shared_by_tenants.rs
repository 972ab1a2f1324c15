use replicant_sink::prelude::*;

#[replicant(table = "orders", multitenancy(strategy = context, schema = "tenant_{}"), tenant_attribute = org, actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org: i64,
}

#[replicant(source_table = "old_orders", table = "orders", multitenancy(strategy = context, schema = "tenant_old_{}"), tenant_attribute = org, actions(read, destroy, create(accept = all)))]
struct OldOrder {
    #[replicant(primary_key)]
    id: i64,
    org: i64,
}

#[replicant_domain(resources(Order))]
struct Shop;

#[replicant_domain(resources(OldOrder))]
struct Archive;

#[replicant_checkpoint(schema = "replicant")]
struct ShopCheckpoint;

#[replicant_sink(slot_name = "shop", domains(Shop, Archive), checkpoint = ShopCheckpoint)] //~ target_shared_by_tenants Archive
struct ShopSink;
