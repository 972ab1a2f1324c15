use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = attribute, attribute = org_id),
    tenant_attribute = org_id,
    identity(by_number, keys(org_id, number)), //~ identity_key_tenant org_id
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
    number: i64,
}
