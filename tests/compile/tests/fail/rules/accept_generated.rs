use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(id, number))))]
struct Order {
    id: i64,
    #[replicant(generated)]
    number: i64,
}

fn main() {}
