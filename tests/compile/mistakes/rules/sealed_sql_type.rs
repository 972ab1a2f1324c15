use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(encrypted, sql_type = "text")] //~ sealed_sql_type sql_type
    pan: Sealed<String>,
}
