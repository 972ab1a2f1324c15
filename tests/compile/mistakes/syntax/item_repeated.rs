use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
#[replicant(table = "orders_2", actions(read, destroy, create(accept = all)))] //~ item_repeated replicant
struct Order {
    id: i64,
}
