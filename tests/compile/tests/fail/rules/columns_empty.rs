use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(generated)]
    number: i64,
}

fn main() {}
