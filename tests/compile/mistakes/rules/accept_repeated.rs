use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(id, id))))] //~ accept_repeated id
struct Order {
    id: i64,
}
