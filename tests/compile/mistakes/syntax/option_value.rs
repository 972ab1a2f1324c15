use replicant_sink::prelude::*;

#[replicant(table = "orders", on_truncate = drop, actions(read, destroy, create(accept = all)))] //~ option_value drop
struct Order {
    id: i64,
}
