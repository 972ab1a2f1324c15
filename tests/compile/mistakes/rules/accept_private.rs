use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept(id, secret))))] //~ accept_private secret
struct Order {
    id: i64,
    #[replicant(private)]
    secret: i64,
}
