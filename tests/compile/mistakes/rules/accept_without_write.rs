use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read(accept = all), destroy, create(accept = all)))] //~ accept_without_write accept
struct Order {
    id: i64,
}
