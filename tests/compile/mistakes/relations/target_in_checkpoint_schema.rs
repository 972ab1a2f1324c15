use replicant_sink::prelude::*;

#[replicant(table = "orders", schema = "replicant", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

#[replicant_domain(resources(Order))]
struct Shop;

#[replicant_checkpoint(schema = "replicant")]
struct ShopCheckpoint;

#[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = ShopCheckpoint)] //~ target_in_checkpoint_schema Shop
struct ShopSink;
