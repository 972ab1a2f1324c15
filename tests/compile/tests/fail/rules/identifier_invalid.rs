use replicant_sink::prelude::*;

#[replicant(table = "orders", source_table = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
