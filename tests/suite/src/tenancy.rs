//! How does a test declare tenants of a table it just made? By a word behind the table's name.

use replicant_checkpoint::contract::resource::{
    ResourceSpec, Tenancy, TenancyReach, TenancyStrategy, TenantSource,
};

/// `t by org`: the column `org` tells and holds the tenant. `t by org in tenant_{}`: it tells the tenant, and each has a
/// schema.
///
/// # Panics
/// When it says neither.
pub fn declare(resource: &mut ResourceSpec, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    match words.as_slice() {
        [] => {}
        ["by", org] => by(resource, TenancyStrategy::Attribute(leak(org)), leak(org)),
        ["by", org, "in", schema] => {
            let schema = leak(schema);
            by(resource, TenancyStrategy::Context { schema }, leak(org));
        }
        other => panic!("{other:?} declares no tenants"),
    }
}

/// Declares that this column tells the tenant, and what keeps tenants apart.
pub fn by(resource: &mut ResourceSpec, strategy: TenancyStrategy, org: &'static str) {
    resource.tenancy = Tenancy::Tenanted {
        strategy,
        reach: TenancyReach::Scoped,
        source: Some(TenantSource::Attribute(org)),
    };
}
