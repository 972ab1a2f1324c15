use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(id))))] //~ column_not_accepted accept
struct Order {
    id: i64,
    amount: i64,
}
