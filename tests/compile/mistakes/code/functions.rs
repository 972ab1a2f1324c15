use replicant_sink::prelude::*;

fn tenant(row: &RowView<'_>) -> Result<Tenant, TenantError> {
    Tenant::new(row.text("org_id")?)
}

#[replicant(
    table = "orders",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_fn(path = tenant), //~ E0308 tenant
    actions(read, destroy, create(accept = all)),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
}
