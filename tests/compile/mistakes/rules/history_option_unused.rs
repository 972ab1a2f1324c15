use replicant_sink::prelude::*;

#[replicant(table = "orders", history_current_attribute = note, actions(read, destroy, create(accept = all)))] //~ history_option_unused history_current_attribute
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
