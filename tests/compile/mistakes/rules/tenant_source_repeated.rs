use replicant_sink::prelude::*;

fn tenant(row: &RowView<'_>, _: &[&str]) -> Result<Tenant, TenantError> {
    Tenant::new(row.text("org_id")?)
}

#[replicant(
    table = "orders",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org_id,
    tenant_fn(path = tenant), //~ tenant_source_repeated tenant_fn
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: String,
}
