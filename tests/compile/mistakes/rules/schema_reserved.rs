use replicant_sink::prelude::*;

#[replicant(table = "orders", schema = pg_catalog, actions(read, destroy, create(accept = all)))] //~ schema_reserved pg_catalog
struct Order {
    id: i64,
}
