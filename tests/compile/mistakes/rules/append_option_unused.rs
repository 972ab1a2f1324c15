use replicant_sink::prelude::*;

#[replicant(table = "orders", append_slot_attribute = note, actions(read, destroy, create(accept = all)))] //~ append_option_unused append_slot_attribute
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
