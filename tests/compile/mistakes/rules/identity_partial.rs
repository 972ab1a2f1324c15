use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(live, keys(id), where = "note is null"), upsert_identity = live, actions(read, destroy, create(accept = all)))] //~ identity_partial where
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
