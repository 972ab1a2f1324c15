use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = attribute, attribute = org_id),
    tenant_attribute = org_id,
    identity(by_number, keys(number)),
    actions(read(multitenancy = bypass), destroy, create(accept = all)), //~ action_tenant_bypass bypass
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
    number: i64,
}
