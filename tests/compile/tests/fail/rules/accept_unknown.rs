use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(idd))))]
struct Order {
    id: i64,
}

fn main() {}
