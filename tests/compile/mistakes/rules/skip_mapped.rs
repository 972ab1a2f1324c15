use replicant_sink::prelude::*;

#[replicant(table = "orders", skip(id), actions(read, destroy, create(accept = all)))] //~ skip_mapped id
struct Order {
    id: i64,
}
