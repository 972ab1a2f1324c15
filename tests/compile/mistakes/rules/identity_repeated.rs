use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(by_id, keys(id)), identity(by_id, keys(id)), actions(read, destroy, create(accept = all)))] //~ identity_repeated by_id
struct Order {
    id: i64,
}
