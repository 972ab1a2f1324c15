//! For every rule that can be judged here: a declaration that breaks it alone, and its nearest legal neighbour.
//!
//! A case departs from a legal declaration. What the macros alone can know (rung `syntax`) and the bound on column
//! types have their cases with the macros.

mod actions;
mod columns;
mod histories;
mod logs;
mod promises;
mod relations;
mod shapes;
mod sinks;
mod snapshots;
mod tenants;

use std::collections::BTreeSet;

use crate::contract::column::{Protection, Visibility};
use crate::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredCheckpoint, DeclaredColumn, DeclaredIdentity,
    DeclaredOrigin, DeclaredResource, DeclaredSink,
};
use crate::contract::identity::IdentityReach;
use crate::contract::resource::ResourceSpec;
use crate::contract::rules::{Part, Rule, Rung, Violation, names};
use crate::contract::sink::SinkSpec;

/// One rule about a resource's names.
struct Case {
    rule: Rule,
    start: &'static ResourceSpec,
    part: Part,
    broken: fn(&mut DeclaredResource),
    legal: fn(&mut DeclaredResource),
}

const fn case(
    rule: Rule,
    start: &'static ResourceSpec,
    part: Part,
    broken: fn(&mut DeclaredResource),
    legal: fn(&mut DeclaredResource),
) -> Case {
    Case {
        rule,
        start,
        part,
        broken,
        legal,
    }
}

const RESOURCES: [&[Case]; 7] = [
    shapes::CASES,
    columns::CASES,
    histories::CASES,
    logs::CASES,
    snapshots::CASES,
    tenants::CASES,
    actions::CASES,
];

#[test]
fn each_rule_is_broken_alone_at_its_part_and_its_neighbour_is_legal() {
    for case in RESOURCES.into_iter().flatten() {
        let judge = |change: fn(&mut DeclaredResource)| {
            let mut declared = DeclaredResource::from(case.start);
            change(&mut declared);
            found(names::resource(&declared))
        };
        assert_eq!(judge(|_| {}), [], "{} begins illegally", case.rule);
        assert_eq!(
            judge(case.broken),
            [(case.rule, case.part)],
            "{}",
            case.rule
        );
        assert_eq!(
            judge(case.legal),
            [],
            "{} has no legal neighbour",
            case.rule
        );
    }
}

#[test]
fn every_rule_has_a_case() {
    let resources = RESOURCES.into_iter().flatten().map(|case| case.rule);
    let covered: BTreeSet<&str> = resources
        .chain(sinks::CASES.iter().map(|case| case.rule))
        .chain(sinks::LISTS.iter().map(|(rule, ..)| *rule))
        .chain(sinks::CHECKPOINTS.iter().map(|(rule, ..)| *rule))
        .chain(promises::CASES.iter().map(|case| case.rule))
        .chain(relations::all().map(|case| case.rule))
        .map(Rule::code)
        .collect();
    let all: BTreeSet<&str> = Rule::ALL
        .iter()
        .filter(|rule| rule.rung() != Rung::Syntax && **rule != Rule::ColumnType)
        .map(|rule| rule.code())
        .collect();
    assert_eq!(covered, all);
}

fn found(violations: Vec<Violation>) -> Vec<(Rule, Part)> {
    for violation in &violations {
        assert!(!violation.fact.is_empty(), "{}", violation.rule);
        assert!(!violation.fact.ends_with('.'), "{}", violation.fact);
    }
    violations
        .iter()
        .map(|one| (one.rule, one.part()))
        .collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn column(field: &str, origin: DeclaredOrigin) -> DeclaredColumn {
    DeclaredColumn {
        field: field.to_owned(),
        origin,
        target: field.to_owned(),
        protection: Protection::Plain,
        visibility: Visibility::Public,
        sql_type: None,
    }
}

fn mapped(field: &str) -> DeclaredColumn {
    column(field, DeclaredOrigin::Source(field.to_owned()))
}

fn identity(name: &str, keys: &[&str]) -> DeclaredIdentity {
    DeclaredIdentity {
        name: name.to_owned(),
        keys: Some(texts(keys)),
        reach: IdentityReach::Tenant,
        predicate: None,
    }
}

fn actions(declared: &mut DeclaredResource) -> &mut Vec<DeclaredAction> {
    declared.actions.as_mut().unwrap()
}

fn accept(fields: &[&str]) -> DeclaredAccept {
    DeclaredAccept::Fields(texts(fields))
}

fn at<'a>(declared: &'a mut DeclaredResource, field: &str) -> &'a mut DeclaredColumn {
    let mut columns = declared.columns.iter_mut();
    columns.find(|column| column.field == field).unwrap()
}

fn drop_column(declared: &mut DeclaredResource, field: &str) {
    declared.columns.retain(|column| column.field != field);
}
