use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, create(accept = all)))] //~ action_missing actions
struct Order {
    id: i64,
}
