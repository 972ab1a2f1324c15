use replicant_sink::prelude::*;

#[replicant(table = "orders", multitenancy(strategy = attribute, attribute = org_id), actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
