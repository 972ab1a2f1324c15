//! What can a declaration say that this release cannot do yet? The one closed list of it: whoever adds the run time of
//! an option deletes its line here.
//!
//! A sink that uses such an option does not start. Ignoring it would store a secret in the clear, or mix tenants.

use replicant_checkpoint::contract::resource::{
    ActionSpec, IdentityReach, Protection, ResourceSpec, Shape, Tenancy, TenancyStrategy,
    TenantSource,
};
use replicant_checkpoint::contract::sink::{InitialState, SinkSpec};
use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;

use crate::error::Error;
use crate::reason::Reason;

/// An option of a resource, and whether a resource uses it.
type OfResource = (&'static str, fn(&ResourceSpec) -> bool);

const OF_RESOURCES: &[OfResource] = &[
    ("auxiliary", |resource| {
        matches!(resource.shape, Shape::Auxiliary)
    }),
    ("multitenancy(strategy = attribute)", |resource| {
        matches!(
            resource.tenancy,
            Tenancy::Tenanted {
                strategy: TenancyStrategy::Attribute(_),
                ..
            }
        )
    }),
    ("multitenancy(strategy = context)", |resource| {
        matches!(
            resource.tenancy,
            Tenancy::Tenanted {
                strategy: TenancyStrategy::Context { .. },
                ..
            }
        )
    }),
    ("tenant_fn", |resource| {
        matches!(
            resource.tenancy.source(),
            Some(TenantSource::Function { .. })
        )
    }),
    ("encrypted under multitenancy", |resource| {
        // An envelope is bound to its tenant: a row that changes tenants has to be opened and sealed again.
        let mut columns = resource.columns.iter();
        resource.tenancy != Tenancy::Untenanted
            && columns.any(|column| column.protection == Protection::Sealed)
    }),
    ("all_tenants", |resource| {
        // Without tenants it says what holds anyway.
        let mut identities = resource.identities.iter();
        resource.tenancy != Tenancy::Untenanted
            && identities.any(|identity| identity.reach == IdentityReach::AllTenants)
    }),
    ("where", |resource| {
        let mut identities = resource.identities.iter();
        identities.any(|identity| identity.predicate.is_some())
    }),
    ("snapshot_provenance", |resource| {
        resource.provenance.is_some()
    }),
    ("changes", |resource| {
        any_action(resource, |action| !action.changes.is_empty())
    }),
    ("validations", |resource| {
        any_action(resource, |action| !action.validations.is_empty())
    }),
    ("touches", |resource| {
        any_action(resource, |action| !action.touches.is_empty())
    }),
    ("message", |resource| {
        any_action(resource, |action| action.message.is_some())
    }),
];

/// An option of a sink, and whether a sink uses it.
type OfSink = (&'static str, fn(&SinkSpec) -> bool);

const OF_SINKS: &[OfSink] = &[
    ("initial_state = snapshot", |sink| {
        sink.initial_state == Some(InitialState::Snapshot)
    }),
    ("message_routes", |sink| !sink.message_routes.is_empty()),
    ("ignored_message_prefixes", |sink| {
        !sink.ignored_message_prefixes.is_empty()
    }),
];

fn any_action(resource: &ResourceSpec, uses: fn(&ActionSpec) -> bool) -> bool {
    resource.actions.iter().any(uses)
}

/// Names every option that is used and not available: of each resource, then of the sink.
pub(crate) fn check(spec: &SinkSpec) -> Vec<Error> {
    let of_resources = spec.resources().flat_map(|resource| {
        let used = OF_RESOURCES.iter().filter(move |(_, uses)| uses(resource));
        used.map(move |(option, _)| Site {
            table: QualifiedName::new(resource.target.schema, resource.target.table).ok(),
            ..Site::option(option)
        })
    });
    let of_sink = OF_SINKS
        .iter()
        .filter(|(_, uses)| uses(spec))
        .map(|(option, _)| Site::option(option));
    of_resources
        .chain(of_sink)
        .map(|site| Error::new(Reason::OptionNotAvailable, site))
        .collect()
}
