use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(sql_type = "")]
    id: i64,
}

fn main() {}
