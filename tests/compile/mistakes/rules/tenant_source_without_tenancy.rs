use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    tenant_attribute = org_id, //~ tenant_source_without_tenancy tenant_attribute
    identity(by_number, keys(number)),
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
    number: i64,
}
