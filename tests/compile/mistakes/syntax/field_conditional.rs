use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    #[cfg(unix)] //~ field_conditional cfg
    amount: i64,
}
