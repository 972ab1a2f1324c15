use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

#[replicant_domain(resources(Order))]
struct Shop;

#[replicant_domain(resources(Order))]
struct Crm;

#[replicant_checkpoint(schema = "replicant")]
struct ShopCheckpoint;

#[replicant_sink(slot_name = "shop", domains(Shop, Crm), checkpoint = ShopCheckpoint)] //~ duplicate_resource Crm
struct ShopSink;
