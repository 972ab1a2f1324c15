use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(by_id, keys(id, id)), actions(read, destroy, create(accept = all)))] //~ identity_key_repeated id
struct Order {
    id: i64,
}
