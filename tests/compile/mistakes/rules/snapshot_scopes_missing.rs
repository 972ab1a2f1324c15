use replicant_sink::prelude::*;

fn all_tenants() -> Result<Vec<Tenant>, TenantError> {
    Ok(Vec::new())
}

#[replicant(
    table = "orders",
    snapshot_provenance, //~ snapshot_scopes_missing snapshot_provenance
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_attribute = org_id,
    actions(
        read, destroy, create(accept = all),
        update(replicant_mark_seen, private, mark_seen),
        destroy(replicant_retire_unseen, private),
    ),
)]
struct Order {
    #[replicant(primary_key)]
    id: i64,
    org_id: String,
    #[replicant(private)]
    replica_fingerprint: Option<Vec<u8>>,
    #[replicant(private)]
    replica_seen_attempt: Option<Vec<u8>>,
}
