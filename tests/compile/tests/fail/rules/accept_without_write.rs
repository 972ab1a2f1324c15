use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read(accept = all), destroy, create(accept = all)))]
struct Order {
    id: i64,
}

fn main() {}
