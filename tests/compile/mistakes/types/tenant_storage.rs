use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = attribute, attribute = org_id),
    tenant_attribute = org_id,
    identity(by_number, keys(number)),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: f64, //~ tenant_storage f64
    number: i64,
}
