use replicant_sink::prelude::*;

#[replicant(table = "orders", skip(id), actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
