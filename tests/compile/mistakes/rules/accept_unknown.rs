use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(idd))))] //~ accept_unknown idd
struct Order {
    id: i64,
}
