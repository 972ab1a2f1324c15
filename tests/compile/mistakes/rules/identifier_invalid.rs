use replicant_sink::prelude::*;

#[replicant(table = "orders", source_table = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", actions(read, destroy, create(accept = all)))] //~ identifier_invalid "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
struct Order {
    id: i64,
}
