use replicant_sink::prelude::*;

#[replicant(table = "orders", identity(live, keys(id), where = " "), actions(read, destroy, create(accept = all)))] //~ identity_predicate_invalid " "
struct Order {
    #[replicant(primary_key)]
    id: i64,
    note: Option<String>,
}
