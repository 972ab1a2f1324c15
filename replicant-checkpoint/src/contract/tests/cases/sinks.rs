//! Sinks, domains and checkpoints by their names.

use super::{DeclaredCheckpoint, DeclaredSink, Part, Rule, SinkSpec, found, text, texts};
use crate::contract::declared::DeclaredRoute;
use crate::contract::rules::names;
use crate::contract::sink::{InitialState, SinkKind};
use crate::contract::tests::declarations::{PAYMENTS, SHOP};

/// One rule about a sink's names.
pub(super) struct Case {
    pub(super) rule: Rule,
    start: &'static SinkSpec,
    part: Part,
    broken: fn(&mut DeclaredSink),
    legal: fn(&mut DeclaredSink),
}

const fn case(
    rule: Rule,
    start: &'static SinkSpec,
    part: Part,
    broken: fn(&mut DeclaredSink),
    legal: fn(&mut DeclaredSink),
) -> Case {
    Case {
        rule,
        start,
        part,
        broken,
        legal,
    }
}

fn route(prefix: &str) -> DeclaredRoute {
    DeclaredRoute {
        prefix: prefix.to_owned(),
        resource: "A".to_owned(),
        action: "b".to_owned(),
    }
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::SlotNameInvalid,
        &SHOP,
        Part::SlotName,
        |it| it.slot_name = text("Shop"),
        |it| it.slot_name = text("shop_1"),
    ),
    case(
        Rule::IgnoredSourceInvalid,
        &SHOP,
        Part::IgnoredSource(0),
        |it| it.ignored_sources = texts(&["audit"]),
        |it| it.ignored_sources = texts(&["public.audit"]),
    ),
    case(
        Rule::IgnoredSourceRepeated,
        &SHOP,
        Part::IgnoredSource(2),
        |it| it.ignored_sources.push("public.audit".into()),
        |it| it.ignored_sources.push("other.audit".into()),
    ),
    case(
        Rule::InitialStateMissing,
        &PAYMENTS,
        Part::SinkKind,
        |it| it.initial_state = None,
        |it| it.initial_state = Some(InitialState::Snapshot),
    ),
    case(
        Rule::InitialStateUnused,
        &SHOP,
        Part::InitialState,
        |it| it.initial_state = Some(InitialState::Snapshot),
        |it| it.kind = None,
    ),
    case(
        Rule::MessagePrefixInvalid,
        &SHOP,
        Part::RoutePrefix(1),
        |it| it.message_routes.push(route("")),
        |it| it.message_routes.push(route(" ")),
    ),
    case(
        Rule::MessagePrefixInvalid,
        &SHOP,
        Part::IgnoredPrefix(1),
        |it| it.ignored_message_prefixes.push("a\0".into()),
        |it| it.ignored_message_prefixes.push("a".into()),
    ),
    case(
        Rule::MessagePrefixRepeated,
        &SHOP,
        Part::RoutePrefix(1),
        |it| it.message_routes.push(route("mail")),
        |it| it.message_routes.push(route("Mail")),
    ),
    case(
        Rule::MessagePrefixRepeated,
        &SHOP,
        Part::IgnoredPrefix(1),
        |it| it.ignored_message_prefixes.push("debug".into()),
        |it| it.ignored_message_prefixes.push("debug2".into()),
    ),
    case(
        Rule::MessagePrefixConflict,
        &SHOP,
        Part::IgnoredPrefix(1),
        |it| it.ignored_message_prefixes.push("mail".into()),
        |it| it.ignored_message_prefixes.push("mails".into()),
    ),
    case(
        Rule::RecoveryHorizonMissing,
        &SHOP,
        Part::MessageRoutes,
        |it| it.recovery_horizon = None,
        |it| {
            it.recovery_horizon = None;
            it.message_routes.clear();
        },
    ),
    case(
        Rule::RecoveryHorizonUnused,
        &SHOP,
        Part::RecoveryHorizon,
        |it| it.message_routes.clear(),
        |_| {},
    ),
    case(
        Rule::RecoveryHorizonUnused,
        &PAYMENTS,
        Part::RecoveryHorizon,
        |it| it.recovery_horizon = text("1h"),
        |it| it.kind = Some(SinkKind::AppendLog),
    ),
    case(
        Rule::PeriodInvalid,
        &SHOP,
        Part::RecoveryHorizon,
        |it| it.recovery_horizon = text("a day"),
        |it| it.recovery_horizon = text("1d"),
    ),
];

/// One rule about a list of paths.
type List = (Rule, fn(&[String]) -> Vec<super::Violation>, Part);

pub(super) const LISTS: &[List] = &[
    (
        Rule::ResourceRepeated,
        names::domain,
        Part::DomainResource(2),
    ),
    (Rule::DomainRepeated, names::domains, Part::Domain(2)),
];

/// One rule about a checkpoint, broken and legal.
type Checkpoint = (Rule, Part, [&'static str; 2], [&'static str; 2]);

pub(super) const CHECKPOINTS: &[Checkpoint] = &[
    (
        Rule::IdentifierInvalid,
        Part::SelectGrant,
        ["replicant", ""],
        ["replicant", "ops"],
    ),
    (
        Rule::SchemaReserved,
        Part::CheckpointSchema,
        ["pg_replicant", "ops"],
        ["pgreplicant", "ops"],
    ),
];

#[test]
fn each_rule_of_a_sink_is_broken_alone_and_its_neighbour_is_legal() {
    for case in CASES {
        let judge = |change: fn(&mut DeclaredSink)| {
            let mut declared = DeclaredSink::from(case.start);
            change(&mut declared);
            found(names::sink(&declared))
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
fn a_list_names_nothing_twice() {
    for (rule, judge, part) in LISTS {
        assert_eq!(found(judge(&texts(&["A", "B", "A"]))), [(*rule, *part)]);
        assert_eq!(found(judge(&texts(&["A", "B", "C"]))), []);
    }
}

#[test]
fn each_rule_of_a_checkpoint_is_broken_alone_and_its_neighbour_is_legal() {
    for (rule, part, broken, legal) in CHECKPOINTS {
        let judge = |[schema, role]: [&str; 2]| {
            found(names::checkpoint(&DeclaredCheckpoint {
                schema: text(schema),
                select_grant: text(role),
            }))
        };
        assert_eq!(judge(*broken), [(*rule, *part)]);
        assert_eq!(judge(*legal), []);
    }
}
