use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key, generated)] //~ key_generated primary_key
    number: i64,
    id: i64,
}
