//! What customers owe and how they pay: the same table mirrored plainly, and for each organisation with its account
//! numbers sealed. The benchmark compares the two.

use chrono::{DateTime, Utc};
use replicant_sink::prelude::*;
use rust_decimal::Decimal;

/// An account as it is.
#[replicant(
    table = "accounts",
    actions(read, destroy, create(accept = all), update(accept = all))
)]
pub struct Account {
    /// Assigned by the shop.
    #[replicant(primary_key)]
    pub id: i64,
    /// Whose it is.
    pub org_id: String,
    /// As on the contract.
    pub holder: String,
    /// The number.
    pub iban: String,
    /// What is owed.
    pub balance: Decimal,
    /// Last change.
    pub updated_at: DateTime<Utc>,
}

/// An account that belongs to an organisation.
#[replicant(
    source_table = "accounts", table = "sealed_accounts",
    multitenancy(strategy = attribute, attribute = org_id),
    tenant_attribute = org_id,
    sensitive(iban),
    actions(read, destroy, create(accept = all), update(accept = all)),
)]
pub struct SealedAccount {
    /// Assigned by the shop.
    #[replicant(primary_key)]
    pub id: i64,
    /// Whose it is.
    pub org_id: String,
    /// As on the contract.
    pub holder: String,
    /// The number, for its organisation's eyes.
    #[replicant(encrypted)]
    pub iban: Sealed<String>,
    /// What is owed.
    pub balance: Decimal,
    /// Last change.
    pub updated_at: DateTime<Utc>,
}

/// Accounts in the clear.
#[replicant_domain(resources(Account))]
pub struct Accounts;

/// Accounts of organisations.
#[replicant_domain(resources(SealedAccount))]
pub struct SealedAccounts;

/// Where the mirror of accounts remembers how far it is.
#[replicant_checkpoint(schema = "replicant")]
pub struct AccountsCheckpoint;

/// The plain mirror.
#[replicant_sink(slot_name = "shop_accounts", domains(Accounts), checkpoint = AccountsCheckpoint)]
pub struct AccountsSink;

/// The mirror for each organisation.
#[replicant_sink(
    slot_name = "shop_sealed_accounts",
    domains(SealedAccounts),
    checkpoint = AccountsCheckpoint
)]
pub struct SealedAccountsSink;
