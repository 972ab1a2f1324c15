use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all), update(destroy, accept(note))))] //~ action_name_reserved destroy
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
