use replicant_sink::prelude::*;

#[replicant(source_table = "orders", actions(read, destroy, create(accept = all)))]
struct Order { //~ option_missing Order
    id: i64,
}
