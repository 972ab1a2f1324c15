use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key, generated)]
    number: i64,
    id: i64,
}

fn main() {}
