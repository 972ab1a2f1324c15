use replicant_sink::prelude::*;

struct Money;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    amount: Money, //~ column_type Money
    total: Option<Money>, //~ column_type Option<Money>
}
