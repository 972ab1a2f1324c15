//! What can a declaration say that this release cannot do yet? The one closed list of it: whoever adds the run time of
//! an option deletes its line here.
//!
//! A sink that uses such an option does not start. Ignoring it would store a secret in the clear, or mix tenants.

use replicant_checkpoint::contract::resource::{
    ActionSpec, ResourceSpec, Shape, Tenancy, TenancyStrategy,
};
use replicant_checkpoint::contract::sink::{InitialState, SinkSpec};
use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;

use crate::error::Error;
use crate::reason::Reason;

/// An option of a resource, and whether a resource uses it.
type OfResource = (&'static str, fn(&ResourceSpec) -> bool);

const OF_RESOURCES: &[OfResource] = &[
    (
        "auxiliary under multitenancy(strategy = context)",
        |resource| {
            let per_schema = matches!(
                resource.tenancy,
                Tenancy::Tenanted {
                    strategy: TenancyStrategy::Context { .. },
                    ..
                }
            );
            per_schema && matches!(resource.shape, Shape::Auxiliary)
        },
    ),
    ("snapshot_provenance", |resource| {
        resource.provenance.is_some()
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

#[cfg(test)]
mod tests {
    use replicant_checkpoint::contract::resource::{
        Accept, ActionKind, ColumnSpec, MessageSpec, ProvenanceSpec, Storage, TenancyReach,
    };
    use replicant_checkpoint::contract::sink::MessageRoute;

    use super::*;
    use crate::pipeline::Pipeline;

    const MIRROR: ResourceSpec = ResourceSpec {
        columns: const { &[ColumnSpec::new("id", Storage::Int8)] },
        ..ResourceSpec::EMPTY
    };

    fn action(action: ActionSpec) -> ResourceSpec {
        ResourceSpec {
            actions: Box::leak(Box::new([action])),
            ..MIRROR
        }
    }

    /// A resource that uses this option, and no more than it takes.
    fn using(option: &str) -> ResourceSpec {
        let create = ActionSpec::new(ActionKind::Create, Accept::All);
        match option {
            "auxiliary under multitenancy(strategy = context)" => ResourceSpec {
                shape: Shape::Auxiliary,
                tenancy: Tenancy::Tenanted {
                    strategy: TenancyStrategy::Context { schema: "t_{}" },
                    reach: TenancyReach::Scoped,
                    source: None,
                },
                ..MIRROR
            },
            "snapshot_provenance" => ResourceSpec {
                provenance: Some(ProvenanceSpec {
                    mark_action: "",
                    retire_action: "",
                    scopes: None,
                }),
                ..MIRROR
            },
            "message" => action(ActionSpec {
                message: Some(MessageSpec {
                    retention: crate::resource::period(60),
                    effect: None,
                }),
                ..create
            }),
            other => panic!("no declaration here uses {other}"),
        }
    }

    fn sink(resource: ResourceSpec) -> SinkSpec {
        let resource: &'static ResourceSpec = Box::leak(Box::new(resource));
        let resources: &'static [&'static ResourceSpec] = Box::leak(Box::new([resource]));
        SinkSpec {
            domains: Box::leak(Box::new([resources])),
            slot_name: "availability",
            ..SinkSpec::EMPTY
        }
    }

    fn named(spec: &SinkSpec) -> Vec<Option<&'static str>> {
        let errors = check(spec);
        assert!(
            errors
                .iter()
                .all(|error| error.code() == "option_not_available")
        );
        errors.iter().map(|error| error.site().option).collect()
    }

    #[test]
    fn a_mirror_uses_nothing_that_is_missing() {
        assert_eq!(named(&sink(MIRROR)), []);
    }

    #[test]
    fn each_option_of_a_resource_that_is_missing_is_named() {
        for (option, _) in OF_RESOURCES {
            let found = named(&sink(using(option)));
            assert!(found.contains(&Some(option)), "{option}: {found:?}");
        }
    }

    #[test]
    fn each_option_of_a_sink_that_is_missing_is_named() {
        for (option, _) in OF_SINKS {
            let mut spec = sink(MIRROR);
            match *option {
                "initial_state = snapshot" => spec.initial_state = Some(InitialState::Snapshot),
                "message_routes" => {
                    spec.message_routes = &[MessageRoute {
                        prefix: "mail",
                        resource: "R",
                        action: "create",
                    }];
                }
                "ignored_message_prefixes" => spec.ignored_message_prefixes = &["heartbeat"],
                other => panic!("no declaration here uses {other}"),
            }
            assert_eq!(named(&spec), [Some(*option)]);
        }
    }

    #[tokio::test]
    async fn such_a_pipeline_does_not_start() {
        let spec: &'static SinkSpec = Box::leak(Box::new(sink(using("message"))));
        let pipeline = Pipeline::of_spec(spec)
            .source("host=/nowhere dbname=a user=a")
            .destination("host=/nowhere dbname=b user=b")
            .publication("p")
            .source_identity("1/a")
            .go_forward();
        let refused = pipeline.start().await.map(|_| ()).unwrap_err();
        assert_eq!(refused.code(), "option_not_available");
        assert_eq!(refused.site().option, Some("message"));
    }
}
