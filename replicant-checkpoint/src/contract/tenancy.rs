//! Whose row is it? How rows are kept apart by tenant, and where a row's tenant is read from. Never defaulted.

/// How rows belong to tenants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tenancy {
    /// They do not: no `multitenancy(...)`. Preflight reports it.
    Untenanted,
    /// Every row has a tenant, or nothing tells whose they are.
    Tenanted {
        /// What keeps tenants apart in the destination.
        strategy: TenancyStrategy,
        /// Whether a row without a tenant is legal.
        reach: TenancyReach,
        /// What tells a row's tenant. `None` is legal for [`TenancyReach::Global`] only.
        source: Option<TenantSource>,
    },
}

/// What keeps tenants apart in the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TenancyStrategy {
    /// A column: the field that holds the tenant. It is prefixed to every identity but those of all tenants.
    Attribute(&'static str),
    /// A schema per tenant.
    Context {
        /// Its name, with `{}` for the tenant.
        schema: &'static str,
    },
}

/// Must something tell a row's tenant? Where something does, a row that it tells nothing of halts in any case.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Hash)]
pub enum TenancyReach {
    /// Yes. The default.
    #[default]
    Scoped,
    /// `global`: no. Without a source of tenants rows are written without regard to any.
    Global,
}

/// What tells a row's tenant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TenantSource {
    /// `tenant_attribute`: this field's source column.
    Attribute(&'static str),
    /// `tenant_fn`: a function of the host.
    Function {
        /// Its path, as written.
        path: &'static str,
        /// What it is called with beside the row.
        args: &'static [&'static str],
    },
}

impl Tenancy {
    /// The field that holds the tenant in the destination.
    pub const fn attribute(&self) -> Option<&'static str> {
        match self {
            Self::Tenanted {
                strategy: TenancyStrategy::Attribute(field),
                ..
            } => Some(field),
            Self::Tenanted {
                strategy: TenancyStrategy::Context { .. },
                ..
            }
            | Self::Untenanted => None,
        }
    }

    /// The field that rows are found by beside their key: the one that holds the tenant, unless nothing tells one.
    pub const fn finding_attribute(&self) -> Option<&'static str> {
        match self {
            Self::Tenanted {
                reach: TenancyReach::Global,
                source: None,
                ..
            } => None,
            Self::Tenanted { .. } | Self::Untenanted => self.attribute(),
        }
    }

    /// What tells a row's tenant.
    pub const fn source(&self) -> Option<TenantSource> {
        match self {
            Self::Untenanted => None,
            Self::Tenanted { source, .. } => *source,
        }
    }
}
