use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

#[replicant(source_table = "orders", table = "orders_copy", actions(read, destroy, create(accept = all)))]
struct Other {
    id: i64,
}

#[replicant_domain(resources(Order))]
struct Shop;

#[replicant_domain(resources(Other))]
struct Crm;

#[replicant_checkpoint(schema = "replicant")]
struct ShopCheckpoint;

#[replicant_sink(slot_name = "shop", domains(Shop, Crm), checkpoint = ShopCheckpoint)] //~ duplicate_source Crm
struct ShopSink;
