use replicant_sink::prelude::*;

#[replicant(table = "orders", on_trunkate = mirror, actions(read, destroy, create(accept = all)))] //~ option_unknown on_trunkate
struct Order {
    id: i64,
}
