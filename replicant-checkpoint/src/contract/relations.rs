//! Do the resources of one sink fit together? Evaluated by the compiler, once per declared sink, and again by
//! admission.
//!
//! [`demanded`] lists what has to be judged, each with the part of the sink it is judged at; the macros emit one
//! [`refuse`] for each, at the token of the part, and [`check`] runs the same list at run time.
//!
//! Names are compared by 64-bit hashes first, so that a sink of hundreds of resources costs the compiler little.
//! Resources whose own mistakes are reported already are skipped.

mod participants;
mod routes;
mod tables;

use super::constant::{equal, hash};
use super::refusal::Fact;
use super::resource::ResourceSpec;
use super::rules::{Part, Rule, Violation};
use super::sink::SinkSpec;

/// Every resource of a sink in order, with the hashes of its names.
#[derive(Debug)]
pub struct Index<const N: usize> {
    resources: [&'static ResourceSpec; N],
    names: [Names; N],
}

/// The hashes of what a resource is known by.
#[derive(Clone, Copy, Debug)]
struct Names {
    source: u64,
    target: u64,
    table: u64,
    path: u64,
}

impl Names {
    const NONE: Self = Self {
        source: 0,
        target: 0,
        table: 0,
        path: 0,
    };

    const fn of(spec: &ResourceSpec) -> Self {
        Self {
            source: hash(spec.source.schema, spec.source.table),
            target: hash(target_schema(spec), spec.target.table),
            table: hash(spec.target.table, ""),
            path: hash(spec.rust_path, ""),
        }
    }
}

/// The schema a resource writes to: under a schema per tenant, the pattern of its name.
const fn target_schema(spec: &ResourceSpec) -> &'static str {
    match spec.schema_of_tenants() {
        Some(schema) => schema,
        None => spec.target.schema,
    }
}

/// How many resources a sink has.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
)]
pub const fn count(sink: &SinkSpec) -> usize {
    let mut count = 0;
    let mut domain = 0;
    while domain < sink.domains.len() {
        count += sink.domains[domain].len();
        domain += 1;
    }
    count
}

impl<const N: usize> Index<N> {
    /// The index of a sink with [`count`] resources.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
    )]
    pub const fn new(sink: &SinkSpec) -> Self {
        let mut index = Self {
            resources: [&ResourceSpec::BROKEN; N],
            names: [Names::NONE; N],
        };
        let mut at = 0;
        let mut domain = 0;
        while domain < sink.domains.len() {
            let mut resource = 0;
            while resource < sink.domains[domain].len() {
                let spec = sink.domains[domain][resource];
                index.resources[at] = spec;
                index.names[at] = Names::of(spec);
                at += 1;
                resource += 1;
            }
            domain += 1;
        }
        index
    }
}

/// A sink and its index, whatever its size.
#[derive(Clone, Copy)]
struct Sink<'a> {
    spec: &'a SinkSpec,
    resources: &'a [&'static ResourceSpec],
    names: &'a [Names],
}

/// Everything that has to be judged about a sink with so many domains, ignored sources and message routes: the rule,
/// and the part of the sink it is judged at.
pub fn demanded(domains: usize, ignored: usize, routes: usize) -> Vec<(Rule, Part)> {
    let of_domains = (0..domains).flat_map(|domain| {
        let rules = DOMAIN_RULES.iter();
        rules.map(move |rule| (*rule, Part::Domain(domain)))
    });
    let of_ignored =
        (0..ignored).map(|ignored| (Rule::IgnoredSourceMapped, Part::IgnoredSource(ignored)));
    let of_routes = (0..routes).flat_map(|route| {
        let resource = (Rule::MessageRouteUnknown, Part::RouteResource(route));
        let rules = ROUTE_RULES.iter();
        std::iter::once(resource).chain(rules.map(move |rule| (*rule, Part::RouteAction(route))))
    });
    of_domains.chain(of_ignored).chain(of_routes).collect()
}

/// What is judged at an entry of `domains(...)`.
const DOMAIN_RULES: &[Rule] = &[
    Rule::DuplicateResource,
    Rule::DuplicateSource,
    Rule::DuplicateTarget,
    Rule::TargetSharedByTenants,
    Rule::ResourcePathRepeated,
    Rule::TargetInCheckpointSchema,
    Rule::SinkKindMixed,
    Rule::DestinationParticipantUnknown,
    Rule::DestinationActionMissing,
    Rule::DestinationParticipantMirrored,
    Rule::DestinationParticipantInvalid,
    Rule::DestinationActionTenantBypass,
    Rule::DestinationParticipantTenant,
    Rule::DestinationParticipantCycle,
];

/// What is judged at the action of a route.
const ROUTE_RULES: &[Rule] = &[
    Rule::DestinationActionMissing,
    Rule::DestinationMessageRouteInvalid,
    Rule::DestinationAppendMessageRouteInvalid,
    Rule::RetentionBelowRecoveryHorizon,
];

/// Stops the compiler when a part of a sink breaks a rule.
#[track_caller]
pub const fn refuse<const N: usize>(sink: &SinkSpec, index: &Index<N>, rule: Rule, part: Part) {
    let sink = Sink {
        spec: sink,
        resources: &index.resources,
        names: &index.names,
    };
    judge(&sink, rule, part).refuse(rule);
}

/// The same judgements at run time, for specifications that no macro made.
pub fn check(spec: &SinkSpec) -> Vec<Violation> {
    let resources: Vec<&'static ResourceSpec> = spec.resources().collect();
    let names: Vec<Names> = resources.iter().map(|spec| Names::of(spec)).collect();
    let sink = Sink {
        spec,
        resources: &resources,
        names: &names,
    };
    let (domains, ignored) = (spec.domains.len(), spec.ignored_sources.len());
    demanded(domains, ignored, spec.message_routes.len())
        .into_iter()
        .filter_map(|(rule, part)| {
            let fact = judge(&sink, rule, part);
            (!fact.is_none()).then(|| Violation::new(rule, [part], fact.as_str()))
        })
        .collect()
}

const fn judge(sink: &Sink<'_>, rule: Rule, part: Part) -> Fact {
    match part {
        Part::Domain(domain) => match rule {
            Rule::DuplicateResource
            | Rule::DuplicateSource
            | Rule::DuplicateTarget
            | Rule::ResourcePathRepeated => tables::pairs(sink, domain, rule),
            Rule::TargetSharedByTenants => tables::of_tenants(sink, domain),
            Rule::TargetInCheckpointSchema => tables::checkpoint_schema(sink, domain),
            Rule::SinkKindMixed => tables::kinds(sink, domain),
            Rule::DestinationParticipantCycle => participants::cycles(sink, domain),
            _ => participants::judge(sink, domain, rule),
        },
        Part::IgnoredSource(ignored) => tables::ignored(sink, ignored),
        Part::RouteResource(route) => routes::resource(sink, route),
        Part::RouteAction(route) => routes::action(sink, route, rule),
        _ => Fact::NONE,
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist; at run \
              time the index is made from the same sink"
)]
impl Sink<'_> {
    /// The positions of a domain's resources in the index.
    const fn bounds(&self, domain: usize) -> (usize, usize) {
        let mut start = 0;
        let mut before = 0;
        while before < domain {
            start += self.spec.domains[before].len();
            before += 1;
        }
        (start, start + self.spec.domains[domain].len())
    }

    /// The resource that hooks and routes call so.
    const fn find(&self, path: &str) -> Option<usize> {
        let hashed = hash(path, "");
        let mut at = 0;
        while at < self.resources.len() {
            if self.names[at].path == hashed && equal(self.resources[at].rust_path, path) {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

/// The action of a resource that hooks and routes call so.
#[expect(
    clippy::indexing_slicing,
    reason = "the index is below the length; iterators do not exist in constants"
)]
const fn find_action(spec: &ResourceSpec, called: &str) -> Option<usize> {
    let mut at = 0;
    while at < spec.actions.len() {
        if equal(spec.actions[at].called(), called) {
            return Some(at);
        }
        at += 1;
    }
    None
}
