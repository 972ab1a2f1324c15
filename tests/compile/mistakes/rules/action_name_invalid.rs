use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all), update("touch up", accept(note))))] //~ action_name_invalid "touch up"
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
