use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    #[replicant(source = "id")]
    number: i64,
}

fn main() {}
