use replicant_sink::prelude::*;

#[replicant(table = "orders", snapshot_mark_action = mark, actions(read, destroy, create(accept = all)))] //~ snapshot_option_unused snapshot_mark_action
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
