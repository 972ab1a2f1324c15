use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(id, number))))] //~ accept_generated number
struct Order {
    id: i64,
    #[replicant(generated)]
    number: i64,
}
