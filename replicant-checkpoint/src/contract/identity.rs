//! What a unique key of a destination table declares.

/// A declared unique key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdentitySpec {
    /// Its name, for `upsert_identity`.
    pub name: &'static str,
    /// Its fields. Under attribute tenancy the tenant's column comes before them unless it reaches all tenants.
    pub keys: &'static [&'static str],
    /// Among which rows it is unique.
    pub reach: IdentityReach,
    /// `where = "..."`: the part of the table it holds for, as SQL over destination columns.
    pub predicate: Option<&'static str>,
}

/// Among which rows is an identity unique?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum IdentityReach {
    /// Among those of one tenant. The default.
    Tenant,
    /// `all_tenants`: in the whole table.
    AllTenants,
}

impl IdentitySpec {
    /// A key of the whole table, per tenant where there are tenants.
    pub const fn new(name: &'static str, keys: &'static [&'static str]) -> Self {
        Self {
            name,
            keys,
            reach: IdentityReach::Tenant,
            predicate: None,
        }
    }
}
