use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    identity(by_pan, keys(pan)), //~ sealed_key pan
    sensitive(pan, cvv),
    skip(cvv),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(encrypted)]
    pan: Sealed<String>,
}
