use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    #[replicant(private)] //~ private_mapped private
    secret: i64,
}
