use replicant_sink::prelude::*;

#[replicant(table = "orders", skip(a), skip(b), actions(read, destroy, create(accept = all)))] //~ option_repeated skip
struct Order {
    id: i64,
}
