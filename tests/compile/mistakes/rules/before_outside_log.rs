use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(before = note)] //~ before_outside_log before
    note_now: Option<String>,
}
