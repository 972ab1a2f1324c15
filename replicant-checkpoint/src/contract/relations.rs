//! Do the resources of one sink fit together? Evaluated by the compiler, once per declared sink.
//!
//! Pairs are compared by 64-bit hashes of their table names first, so that a sink of hundreds of resources costs the
//! compiler little. Resources whose own mistakes are reported already are skipped.
//!
//! The macros emit calls of the `refuse_*` functions; each panics with a message naming both sides, which the
//! compiler prints at the token the call was made for.

#![expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
)]

use super::refusal::Message;
use super::resource::{ResourceSpec, TableName};
use super::rules::{Part, Rule, Violation};
use super::sink::SinkSpec;

/// Every resource of a sink in order, with the hashes of its tables.
#[derive(Debug)]
pub struct Index<const N: usize> {
    resources: [&'static ResourceSpec; N],
    sources: [u64; N],
    targets: [u64; N],
}

/// How many resources a sink has.
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
    pub const fn new(sink: &SinkSpec) -> Self {
        let mut index = Self {
            resources: [&ResourceSpec::BROKEN; N],
            sources: [0; N],
            targets: [0; N],
        };
        let mut at = 0;
        let mut domain = 0;
        while domain < sink.domains.len() {
            let mut resource = 0;
            while resource < sink.domains[domain].len() {
                let spec = sink.domains[domain][resource];
                index.resources[at] = spec;
                index.sources[at] = hash(&spec.source);
                index.targets[at] = hash(&spec.target);
                at += 1;
                resource += 1;
            }
            domain += 1;
        }
        index
    }
}

/// Refuses a domain that holds a resource the sink has already.
#[track_caller]
pub const fn refuse_duplicate_resource<const N: usize>(
    sink: &SinkSpec,
    index: &Index<N>,
    domain: usize,
) {
    refuse_pairs(sink, index, domain, Rule::DuplicateResource);
}

/// Refuses a domain that reads a source table the sink reads already.
#[track_caller]
pub const fn refuse_duplicate_source<const N: usize>(
    sink: &SinkSpec,
    index: &Index<N>,
    domain: usize,
) {
    refuse_pairs(sink, index, domain, Rule::DuplicateSource);
}

/// Refuses a domain that writes a destination table the sink writes already.
#[track_caller]
pub const fn refuse_duplicate_target<const N: usize>(
    sink: &SinkSpec,
    index: &Index<N>,
    domain: usize,
) {
    refuse_pairs(sink, index, domain, Rule::DuplicateTarget);
}

/// Refuses a domain that writes into the checkpoint's schema.
#[track_caller]
pub const fn refuse_target_in_checkpoint_schema<const N: usize>(
    sink: &SinkSpec,
    index: &Index<N>,
    domain: usize,
) {
    let mut message = Message::new();
    let (mut at, end) = bounds(sink, domain);
    while at < end {
        let spec = index.resources[at];
        if in_checkpoint_schema(sink, spec) {
            message = message
                .line(Rule::TargetInCheckpointSchema)
                .quote(spec.rust_name)
                .text(" writes into the checkpoint's schema ")
                .quote(sink.checkpoint.schema);
        }
        at += 1;
    }
    message.refuse(Rule::TargetInCheckpointSchema);
}

/// Refuses an ignored table that a resource of the sink reads.
#[track_caller]
pub const fn refuse_ignored_source_mapped<const N: usize>(
    sink: &SinkSpec,
    index: &Index<N>,
    ignored: usize,
) {
    let mut message = Message::new();
    let name = &sink.ignored_sources[ignored];
    let hashed = hash(name);
    let mut at = 0;
    while at < N {
        let spec = index.resources[at];
        if index.sources[at] == hashed && !spec.broken && same(name, &spec.source) {
            message = message
                .line(Rule::IgnoredSourceMapped)
                .table(name)
                .text(" is ignored and is the source of ")
                .quote(spec.rust_name);
        }
        at += 1;
    }
    message.refuse(Rule::IgnoredSourceMapped);
}

/// The same judgements at run time, for specifications that no macro made.
pub fn check(sink: &SinkSpec) -> Vec<Violation> {
    let mut found = Vec::new();
    let placed: Vec<(usize, &ResourceSpec)> = sink
        .domains
        .iter()
        .enumerate()
        .flat_map(|(domain, resources)| resources.iter().map(move |spec| (domain, *spec)))
        .collect();
    for (at, (domain, spec)) in placed.iter().enumerate() {
        for (_, other) in placed.iter().take(at) {
            if let Some((rule, table)) = conflict(other, spec) {
                found.push(Violation::new(
                    rule,
                    [Part::Domain(*domain)],
                    format!(
                        "`{}` and `{}`: `{}.{}`",
                        other.rust_name, spec.rust_name, table.schema, table.table
                    ),
                ));
            }
        }
        if in_checkpoint_schema(sink, spec) {
            found.push(Violation::new(
                Rule::TargetInCheckpointSchema,
                [Part::Domain(*domain)],
                format!(
                    "`{}` writes into `{}`",
                    spec.rust_name, sink.checkpoint.schema
                ),
            ));
        }
        let ignored = sink
            .ignored_sources
            .iter()
            .position(|name| same(name, &spec.source));
        if let Some(ignored) = ignored
            && !spec.broken
        {
            found.push(Violation::new(
                Rule::IgnoredSourceMapped,
                [Part::IgnoredSource(ignored)],
                format!(
                    "`{}.{}` is the source of `{}`",
                    spec.source.schema, spec.source.table, spec.rust_name
                ),
            ));
        }
    }
    found
}

#[track_caller]
const fn refuse_pairs<const N: usize>(
    sink: &SinkSpec,
    index: &Index<N>,
    domain: usize,
    rule: Rule,
) {
    let mut message = Message::new();
    let (mut at, end) = bounds(sink, domain);
    while at < end {
        let mut earlier = 0;
        while earlier < at {
            let near = index.sources[earlier] == index.sources[at]
                || index.targets[earlier] == index.targets[at];
            if near
                && let Some((broken, table)) =
                    conflict(index.resources[earlier], index.resources[at])
                && broken as u8 == rule as u8
            {
                let (first, second) = (index.resources[earlier], index.resources[at]);
                message = match rule {
                    Rule::DuplicateSource => message
                        .line(rule)
                        .table(table)
                        .text(" is the source of ")
                        .quote(first.rust_name)
                        .text(" and of ")
                        .quote(second.rust_name),
                    Rule::DuplicateTarget => message
                        .line(rule)
                        .quote(first.rust_name)
                        .text(" and ")
                        .quote(second.rust_name)
                        .text(" both write ")
                        .table(table),
                    _ => message
                        .line(rule)
                        .quote(second.rust_name)
                        .text(" is in the sink twice"),
                };
            }
            earlier += 1;
        }
        at += 1;
    }
    message.refuse(rule);
}

/// What two resources of one sink must not share: the strongest of the three rules, so that one cause is one error.
const fn conflict<'a>(
    first: &ResourceSpec,
    second: &'a ResourceSpec,
) -> Option<(Rule, &'a TableName)> {
    if first.broken || second.broken {
        return None;
    }
    let source = same(&first.source, &second.source);
    let target = same(&first.target, &second.target);
    if source && target && equal(first.rust_name, second.rust_name) {
        Some((Rule::DuplicateResource, &second.source))
    } else if source {
        Some((Rule::DuplicateSource, &second.source))
    } else if target {
        Some((Rule::DuplicateTarget, &second.target))
    } else {
        None
    }
}

const fn in_checkpoint_schema(sink: &SinkSpec, spec: &ResourceSpec) -> bool {
    !spec.broken && equal(spec.target.schema, sink.checkpoint.schema)
}

/// The positions of a domain's resources in the index.
const fn bounds(sink: &SinkSpec, domain: usize) -> (usize, usize) {
    let mut start = 0;
    let mut before = 0;
    while before < domain {
        start += sink.domains[before].len();
        before += 1;
    }
    (start, start + sink.domains[domain].len())
}

const fn same(a: &TableName, b: &TableName) -> bool {
    equal(a.schema, b.schema) && equal(a.table, b.table)
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// FNV-1a over schema, a separator no name holds, and table.
const fn hash(name: &TableName) -> u64 {
    let schema = fnv(0xcbf2_9ce4_8422_2325, name.schema.as_bytes());
    fnv(fnv(schema, &[0]), name.table.as_bytes())
}

const fn fnv(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = seed;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}
