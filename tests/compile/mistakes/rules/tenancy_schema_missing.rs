use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = context), //~ tenancy_schema_missing context
    tenant_attribute = org_id,
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: String,
}
