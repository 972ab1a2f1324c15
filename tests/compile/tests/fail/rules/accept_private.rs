use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(id, secret))))]
struct Order {
    id: i64,
    #[replicant(private)]
    secret: i64,
}

fn main() {}
