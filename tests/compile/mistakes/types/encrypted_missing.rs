use replicant_sink::prelude::*;

type Secret = Option<Sealed<String>>;

#[replicant(
    table = "orders",
    sensitive(pan, cvv),
    skip(cvv),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    pan: Secret, //~ encrypted_missing Secret
}
