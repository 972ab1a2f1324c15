use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

#[replicant(source_table = "others", table = "orders", actions(read, destroy, create(accept = all)))]
struct Other {
    id: i64,
}

#[replicant_domain(resources(Order, Other))]
struct Shop;

#[replicant_checkpoint(schema = "replicant")]
struct ShopCheckpoint;

#[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)] //~ duplicate_target Shop
struct ShopSink;
