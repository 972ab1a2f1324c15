//! Does every table of a sink have one resource, and every resource a table of its own?

#![expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist; at run \
              time the index is made from the same sink"
)]

use super::{Sink, target_schema};
use crate::contract::constant::{equal, fits, hash, meet};
use crate::contract::refusal::Fact;
use crate::contract::resource::{ResourceSpec, Shape, TableName};
use crate::contract::rules::Rule;
use crate::contract::sink::SinkKind;

/// Two resources of a domain, or of it and an earlier one, that share what they must not.
pub(super) const fn pairs(sink: &Sink<'_>, domain: usize, rule: Rule) -> Fact {
    let mut fact = Fact::NONE;
    let (mut at, end) = sink.bounds(domain);
    while at < end {
        let mut earlier = 0;
        while earlier < at {
            let (one, other) = (&sink.names[earlier], &sink.names[at]);
            let near =
                one.source == other.source || one.target == other.target || one.path == other.path;
            if near
                && let Some(broken) = conflict(sink.resources[earlier], sink.resources[at])
                && broken as u8 == rule as u8
            {
                fact = shared(
                    fact.line(),
                    rule,
                    sink.resources[earlier],
                    sink.resources[at],
                );
            }
            earlier += 1;
        }
        at += 1;
    }
    fact
}

const fn shared(fact: Fact, rule: Rule, first: &ResourceSpec, second: &ResourceSpec) -> Fact {
    match rule {
        Rule::DuplicateSource => fact
            .table(&second.source)
            .text(" is the source of ")
            .quote(first.rust_name)
            .text(" and of ")
            .quote(second.rust_name),
        Rule::DuplicateTarget => fact
            .quote(first.rust_name)
            .text(" and ")
            .quote(second.rust_name)
            .text(" both write ")
            .table(&TableName {
                schema: target_schema(second),
                table: second.target.table,
            }),
        Rule::ResourcePathRepeated => fact
            .text("two resources are called ")
            .quote(second.rust_path),
        _ => fact.quote(second.rust_name).text(" is in the sink twice"),
    }
}

/// What two resources of one sink must not share: the strongest of the four rules, so that one cause is one error.
const fn conflict(first: &ResourceSpec, second: &ResourceSpec) -> Option<Rule> {
    if first.broken || second.broken {
        return None;
    }
    let source = first.is_mapped() && second.is_mapped() && same(&first.source, &second.source);
    let target = equal(target_schema(first), target_schema(second))
        && equal(first.target.table, second.target.table);
    let path = !first.rust_path.is_empty() && equal(first.rust_path, second.rust_path);
    let fed_alike = source || (!first.is_mapped() && !second.is_mapped());
    if fed_alike && target && equal(first.rust_name, second.rust_name) {
        Some(Rule::DuplicateResource)
    } else if source {
        Some(Rule::DuplicateSource)
    } else if target {
        Some(Rule::DuplicateTarget)
    } else if path {
        Some(Rule::ResourcePathRepeated)
    } else {
        None
    }
}

/// Resources whose tables have one name, in schemas that are called alike for some of their tenants.
pub(super) const fn of_tenants(sink: &Sink<'_>, domain: usize) -> Fact {
    let mut fact = Fact::NONE;
    let (mut at, end) = sink.bounds(domain);
    while at < end {
        let second = sink.resources[at];
        let mut earlier = 0;
        while second.schema_of_tenants().is_some() && earlier < at {
            let first = sink.resources[earlier];
            if sink.names[earlier].table == sink.names[at].table
                && equal(first.target.table, second.target.table)
                && let (Some(one), Some(other)) =
                    (first.schema_of_tenants(), second.schema_of_tenants())
                && meet(one, other)
                && !first.broken
                && !second.broken
                && conflict(first, second).is_none()
            {
                fact = fact
                    .line()
                    .quote(first.rust_name)
                    .text(" and ")
                    .quote(second.rust_name)
                    .text(" both write a table ")
                    .quote(second.target.table)
                    .text(" of tenants, and for some tenants ")
                    .quote(one)
                    .text(" and ")
                    .quote(other)
                    .text(" are one schema");
            }
            earlier += 1;
        }
        at += 1;
    }
    fact
}

/// Resources of a domain that write into the checkpoint's schema, or would for some tenant.
pub(super) const fn checkpoint_schema(sink: &Sink<'_>, domain: usize) -> Fact {
    let mut fact = Fact::NONE;
    let checkpoint = sink.spec.checkpoint.schema;
    let (mut at, end) = sink.bounds(domain);
    while at < end {
        let spec = sink.resources[at];
        let schema = target_schema(spec);
        if !spec.broken && equal(schema, checkpoint) {
            fact = fact
                .line()
                .quote(spec.rust_name)
                .text(" writes into the checkpoint's schema ")
                .quote(checkpoint);
        } else if !spec.broken && spec.schema_of_tenants().is_some() && fits(schema, checkpoint) {
            fact = fact
                .line()
                .quote(spec.rust_name)
                .text(" writes into ")
                .quote(schema)
                .text(", which for some tenant is the checkpoint's schema ")
                .quote(checkpoint);
        }
        at += 1;
    }
    fact
}

/// Resources of a domain that are not what the sink is made of.
pub(super) const fn kinds(sink: &Sink<'_>, domain: usize) -> Fact {
    let mut fact = Fact::NONE;
    let (mut at, end) = sink.bounds(domain);
    while at < end {
        let spec = sink.resources[at];
        let wrong = match (&spec.shape, sink.spec.kind) {
            (Shape::Mirror | Shape::History(_), SinkKind::AppendLog) => {
                " is no log, and the sink is one: `sink_kind = append_log`"
            }
            (Shape::AppendLog(_), SinkKind::StateMirror) => {
                " is a log, and the sink is a mirror: `sink_kind = append_log` is not written"
            }
            (Shape::Auxiliary, _)
            | (Shape::Mirror | Shape::History(_), SinkKind::StateMirror)
            | (Shape::AppendLog(_), SinkKind::AppendLog) => "",
        };
        if !spec.broken && !wrong.is_empty() {
            fact = fact.line().quote(spec.rust_name).text(wrong);
        }
        at += 1;
    }
    fact
}

/// An ignored table that a resource of the sink reads.
pub(super) const fn ignored(sink: &Sink<'_>, ignored: usize) -> Fact {
    let mut fact = Fact::NONE;
    let name = &sink.spec.ignored_sources[ignored];
    let hashed = hash(name.schema, name.table);
    let mut at = 0;
    while at < sink.resources.len() {
        let spec = sink.resources[at];
        let reads = sink.names[at].source == hashed && same(name, &spec.source);
        if reads && spec.is_mapped() && !spec.broken {
            fact = fact
                .line()
                .table(name)
                .text(" is ignored and is the source of ")
                .quote(spec.rust_name);
        }
        at += 1;
    }
    fact
}

const fn same(a: &TableName, b: &TableName) -> bool {
    equal(a.schema, b.schema) && equal(a.table, b.table)
}
