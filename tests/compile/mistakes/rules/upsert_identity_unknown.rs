use replicant_sink::prelude::*;

#[replicant(table = "orders", upsert_identity = by_id, actions(read, destroy, create(accept = all)))] //~ upsert_identity_unknown by_id
struct Order {
    id: i64,
}
