use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all), create(record, accept(id)), update(record, accept(id))))] //~ action_name_repeated record
struct Order {
    id: i64,
}
