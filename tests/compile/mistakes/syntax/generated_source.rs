use replicant_sink::prelude::*;

#[replicant(table = "orders", actions(read, destroy, create(accept = all)))]
struct Order {
    id: i64,
    #[replicant(generated, source = "n")] //~ generated_source source
    number: i64,
}
