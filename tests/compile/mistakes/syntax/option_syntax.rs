use replicant_sink::prelude::*;

#[replicant(table = "orders", skip(a) on_truncate = mirror, actions(read, destroy, create(accept = all)))] //~ option_syntax on_truncate
struct Order {
    id: i64,
}
