//! A schema for every tenant, which a function of the host tells from the row.

use replicant_sink::prelude::*;
use rust_decimal::Decimal;

pub mod regions {
    use replicant_sink::prelude::*;

    /// The tenant of a row: its organisation, in the region given by `args`.
    pub fn of(row: &RowView<'_>, args: &[&str]) -> Result<Tenant, TenantError> {
        let region = args.first().ok_or(TenantError::Unknown)?;
        Tenant::new(format!("{region}_{}", row.text("org")?))
    }
}

#[replicant(
    source_table = "payments", table = "payments",
    multitenancy(strategy = context, schema = "tenant_{}"),
    tenant_fn(path = crate::regions::of, args("eu")),
    skip(org),                                                   // a function sees skipped columns too
    on_truncate = mirror,
    actions(read, destroy, create(accept = all), update(accept = all)),
)]
pub struct Payment {
    #[replicant(primary_key)]
    pub id: i64,
    pub amount: Decimal,
}

#[replicant_domain(resources(Payment))]
pub struct Payments;

#[replicant_checkpoint(schema = "replicant")]
pub struct PaymentsCheckpoint;

#[replicant_sink(slot_name = "regional_payments", domains(Payments), checkpoint = PaymentsCheckpoint)]
pub struct PaymentsSink;
