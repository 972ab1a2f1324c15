use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
