use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    sensitive(pan, cvv),
    skip(cvv),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    pan: String, //~ sensitive_plain String
}
