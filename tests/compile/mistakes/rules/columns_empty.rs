use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order { //~ columns_empty Order
    #[replicant(generated)]
    number: i64,
}
