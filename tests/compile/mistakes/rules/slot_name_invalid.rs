use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

#[replicant_domain(resources(Order))]
struct Shop;

#[replicant_checkpoint(schema = "replicant")]
struct ShopCheckpoint;

#[replicant_sink(slot_name = "Shop-Orders", domains(Shop), checkpoint = ShopCheckpoint)] //~ slot_name_invalid "Shop-Orders"
struct ShopSink;
