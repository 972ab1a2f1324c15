use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(by_id, keys(number)), actions(read, destroy, create(accept = all)))] //~ identity_key_unknown number
struct Order {
    #[replicant(source = "number")]
    id: i64,
}
