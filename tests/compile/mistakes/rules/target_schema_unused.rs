use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    schema = "mirror", //~ target_schema_unused schema
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org_id,
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
}
