use replicant_sink::prelude::*;

#[replicant(
    table = "orders",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org_id, //~ tenant_not_mapped org_id
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(generated)]
    org_id: String,
}
