use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all), create(accept(id))))]
struct Order {
    id: i64,
}

fn main() {}
