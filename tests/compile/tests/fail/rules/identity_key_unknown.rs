use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(by_id, keys(number)), actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(source = "number")]
    id: i64,
}

fn main() {}
