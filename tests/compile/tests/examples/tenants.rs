//! Invoices of every organisation in one table, one of whose columns tells whose they are.

use replicant_sink::prelude::*;
use rust_decimal::Decimal;

#[replicant(
    source_table = "invoices", table = "invoices",
    multitenancy(strategy = attribute, attribute = org_id),      // the column that keeps them apart
    tenant_attribute = org_id,                                   // what tells whose a row is
    sensitive(iban),
    on_truncate = mirror,
    actions(read, destroy, create(accept = all), update(accept = all)),
)]
pub struct Invoice {
    #[replicant(primary_key)]
    pub id: i64,
    pub org_id: String,
    pub amount: Decimal,
    #[replicant(encrypted)] // destination column encrypted_iban bytea, sealed for org_id
    pub iban: Sealed<String>,
}

#[replicant_domain(resources(Invoice))]
pub struct Billing;

#[replicant_checkpoint(schema = "replicant")]
pub struct BillingCheckpoint;

#[replicant_sink(slot_name = "billing", domains(Billing), checkpoint = BillingCheckpoint)]
pub struct BillingSink;
