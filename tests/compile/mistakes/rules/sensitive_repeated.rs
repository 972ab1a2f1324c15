use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    sensitive(pan, cvv, pan), //~ sensitive_repeated pan
    skip(cvv),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(encrypted)]
    pan: Sealed<String>,
}
