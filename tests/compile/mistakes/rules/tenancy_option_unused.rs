use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = context, schema = "tenant_{}", attribute = org_id), //~ tenancy_option_unused attribute
    tenant_attribute = org_id,
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: String,
}
