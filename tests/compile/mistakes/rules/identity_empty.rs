use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(by_id, keys()), actions(read, destroy, create(accept = all)))] //~ identity_empty keys
struct Order {
    id: i64,
}
