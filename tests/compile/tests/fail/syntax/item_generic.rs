use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order<T> {
    id: T,
}

fn main() {}
