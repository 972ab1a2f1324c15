use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(skip(blob))] //~ option_misplaced skip
    id: i64,
}
