use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    #[replicant(sql_type = "")] //~ sql_type_invalid ""
    id: i64,
}
