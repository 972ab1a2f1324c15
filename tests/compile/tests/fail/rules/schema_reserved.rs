use replicant_sink::prelude::*;

#[replicant(table = "orders", schema = pg_catalog, actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
