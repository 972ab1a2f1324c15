use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}

#[replicant_domain(resources(Order))]
struct Shop;

#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(slot_name = "shop", domains(Shop), checkpoint = Checkpoint, initial_state = snapshot)] //~ initial_state_unused initial_state
struct Sink;
