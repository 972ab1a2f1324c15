use replicant_sink::prelude::*;

#[replicant(table = "orders", skip(a, b, a), actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
