use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all), create(accept(id))))] //~ primary_action_repeated create
struct Order {
    id: i64,
}
