use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    #[replicant(column = "id")] //~ target_column_repeated "id"
    number: i64,
}
