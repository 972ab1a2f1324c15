use replicant_sink::prelude::*;

#[replicant(table = "orders", skip(a, b, a), actions(read, destroy, create(accept = all)))] //~ skip_repeated a
struct Order {
    id: i64,
}
