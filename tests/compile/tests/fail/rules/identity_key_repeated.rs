use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(by_id, keys(id, id)), actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
