use replicant_sink::prelude::*;

#[replicant(table = "orders", on_truncate = close, actions(read, destroy, create(accept = all)))] //~ truncate_close_without_history close
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
