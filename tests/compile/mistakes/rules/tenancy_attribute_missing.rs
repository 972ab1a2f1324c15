use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = attribute), //~ tenancy_attribute_missing attribute
    tenant_attribute = org_id,
    identity(by_number, keys(number)),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
    number: i64,
}
