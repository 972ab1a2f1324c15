//! A schema per tenant, and a function of the host that tells a row's tenant.

use replicant_sink::prelude::*;
use uuid::Uuid;

pub mod tenants {
    use replicant_sink::prelude::*;

    /// The tenant of a row: its organisation, in the region given by `args`.
    pub fn of(row: &RowView<'_>, args: &[&str]) -> Result<Tenant, TenantError> {
        let region = args.first().ok_or(TenantError::Unknown)?;
        Tenant::new(format!("{region}_{}", row.text("org")?))
    }

    /// Every tenant whose rows a snapshot may retire.
    pub fn all() -> Result<Vec<Tenant>, TenantError> {
        Ok(vec![Tenant::new("eu_acme")?, Tenant::new("eu_globex")?])
    }
}

#[replicant(
    table = "invoices",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_fn(path = crate::tenants::of, args("eu")),
    snapshot_provenance,
    snapshot_scopes(path = crate::tenants::all),
    actions(
        read,
        destroy,
        create(accept = all),
        update(replicant_mark_seen, private, mark_seen),
        destroy(replicant_retire_unseen, private),
    ),
)]
pub struct Invoice {
    #[replicant(primary_key)]
    pub id: Uuid,
    pub org: String,
    #[replicant(private)]
    pub replica_fingerprint: Option<Vec<u8>>,
    #[replicant(private)]
    pub replica_seen_attempt: Option<Vec<u8>>,
}
