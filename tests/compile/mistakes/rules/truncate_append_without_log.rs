use replicant_sink::prelude::*;

#[replicant(table = "orders", on_truncate = append, actions(read, destroy, create(accept = all)))] //~ truncate_append_without_log append
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
