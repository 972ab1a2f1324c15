use replicant_sink::prelude::*;

#[replicant(table = "orders", on_truncate = drop, actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
