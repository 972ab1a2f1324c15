//! What only the whole sink can tell.

mod tables;

use super::{Part, Rule, found};
use crate::contract::action::{ActionRef, ActionSpec, ActionTenancy, HookSpec};
use crate::contract::column::Visibility;
use crate::contract::relations::{self, Index, count};
use crate::contract::resource::{ResourceSpec, Shape};
use crate::contract::sink::{MessageRoute, SinkSpec};
use crate::contract::tenancy::Tenancy;
use crate::contract::tests::declarations::{ORDER, PAYMENTS, RECEIPT, SHOP, hours, table};

/// One rule about a compiled sink.
pub(super) struct Case {
    pub(super) rule: Rule,
    start: &'static SinkSpec,
    part: Part,
    broken: fn(&mut SinkSpec),
    legal: fn(&mut SinkSpec),
}

const fn case(
    rule: Rule,
    start: &'static SinkSpec,
    part: Part,
    broken: fn(&mut SinkSpec),
    legal: fn(&mut SinkSpec),
) -> Case {
    Case {
        rule,
        start,
        part,
        broken,
        legal,
    }
}

/// The sink with one resource more, in a domain of its own: the third of a shop, the second of the payments.
fn with(it: &mut SinkSpec, spec: ResourceSpec) {
    let resource: &'static ResourceSpec = Box::leak(Box::new(spec));
    let mut domains = it.domains.to_vec();
    domains.push(vec![resource].leak());
    it.domains = domains.leak();
}

/// The sink with one of its resources changed.
fn changed(it: &mut SinkSpec, name: &str, change: impl Fn(&mut ResourceSpec)) {
    let domains = it.domains.iter().map(|domain| {
        let resources = domain.iter().map(|resource| {
            let mut spec = **resource;
            if spec.rust_name == name {
                change(&mut spec);
            }
            &*Box::leak(Box::new(spec))
        });
        &*resources.collect::<Vec<&'static ResourceSpec>>().leak()
    });
    it.domains = domains
        .collect::<Vec<&'static [&'static ResourceSpec]>>()
        .leak();
}

fn action(it: &mut SinkSpec, name: &str, index: usize, change: impl Fn(&mut ActionSpec)) {
    changed(it, name, |spec| {
        let mut actions = spec.actions.to_vec();
        change(&mut actions[index]);
        spec.actions = actions.leak();
    });
}

/// The hook of an order runs this instead.
fn runs(it: &mut SinkSpec, resource: &'static str, called: &'static str) {
    action(it, "Order", 2, |action| {
        let participants = vec![ActionRef {
            resource,
            action: called,
        }];
        action.changes = vec![HookSpec {
            name: "hooks::Receipts",
            participants: participants.leak(),
        }]
        .leak();
        action.touches = vec![resource].leak();
    });
}

fn route(it: &mut SinkSpec, resource: &'static str, action: &'static str) {
    it.message_routes = vec![MessageRoute {
        prefix: "mail",
        resource,
        action,
    }]
    .leak();
}

fn untenanted(spec: &mut ResourceSpec) {
    spec.tenancy = Tenancy::Untenanted;
}

/// The receipt's create runs a hook that creates an order's receipt again.
fn circle(it: &mut SinkSpec) {
    action(it, "Receipt", 0, |action| {
        action.changes = &[HookSpec {
            name: "hooks::Again",
            participants: &[ActionRef {
                resource: "shop::Ledger",
                action: "enter",
            }],
        }];
        action.touches = &["shop::Ledger"];
    });
    with(
        it,
        ResourceSpec {
            rust_name: "Ledger",
            rust_path: "shop::Ledger",
            target: table("ledger"),
            ..RECEIPT
        },
    );
}

fn ledger_runs(it: &mut SinkSpec, resource: &'static str) {
    action(it, "Ledger", 0, |action| {
        action.name = Some("enter");
        action.changes = vec![HookSpec {
            name: "hooks::Back",
            participants: vec![ActionRef {
                resource,
                action: "record",
            }]
            .leak(),
        }]
        .leak();
        action.touches = vec![resource].leak();
    });
}

/// Every case.
pub(super) fn all() -> impl Iterator<Item = &'static Case> {
    tables::CASES.iter().chain(CASES)
}

const CASES: &[Case] = &[
    case(
        Rule::MessageRouteUnknown,
        &SHOP,
        Part::RouteResource(0),
        |it| route(it, "shop::Mail", "record"),
        |it| route(it, "shop::MailOutbox", "record"),
    ),
    case(
        Rule::DestinationActionMissing,
        &SHOP,
        Part::RouteAction(0),
        |it| route(it, "shop::MailOutbox", "recrod"),
        |it| route(it, "shop::MailOutbox", "record"),
    ),
    case(
        Rule::DestinationActionMissing,
        &SHOP,
        Part::Domain(0),
        |it| runs(it, "shop::Receipt", "recrod"),
        |it| runs(it, "shop::Receipt", "record"),
    ),
    case(
        Rule::DestinationMessageRouteInvalid,
        &SHOP,
        Part::RouteAction(0),
        |it| route(it, "shop::Receipt", "record"),
        |it| route(it, "shop::MailOutbox", "record"),
    ),
    case(
        Rule::DestinationMessageRouteInvalid,
        &SHOP,
        Part::RouteAction(0),
        |it| route(it, "shop::Order", "create"),
        |it| route(it, "shop::MailOutbox", "record"),
    ),
    case(
        Rule::DestinationMessageRouteInvalid,
        &SHOP,
        Part::RouteAction(0),
        |it| action(it, "MailOutbox", 0, |action| action.message = None),
        |_| {},
    ),
    case(
        Rule::DestinationAppendMessageRouteInvalid,
        &PAYMENTS,
        Part::RouteAction(0),
        |it| route(it, "shop::PaymentEvent", "read"),
        |it| route(it, "shop::PaymentEvent", "append"),
    ),
    case(
        Rule::DestinationAppendMessageRouteInvalid,
        &PAYMENTS,
        Part::RouteAction(0),
        |it| {
            changed(it, "PaymentEvent", |spec| {
                if let Shape::AppendLog(append) = &mut spec.shape {
                    append.message_prefix = None;
                }
            });
        },
        |_| {},
    ),
    case(
        Rule::DestinationAppendMessageRouteInvalid,
        &PAYMENTS,
        Part::RouteAction(0),
        |it| changed(it, "PaymentEvent", |spec| spec.tenancy = ORDER.tenancy),
        |_| {},
    ),
    case(
        Rule::RetentionBelowRecoveryHorizon,
        &SHOP,
        Part::RouteAction(0),
        |it| it.recovery_horizon = Some(hours(73)),
        |it| it.recovery_horizon = Some(hours(72)),
    ),
    case(
        Rule::DestinationParticipantUnknown,
        &SHOP,
        Part::Domain(0),
        |it| runs(it, "shop::Recipt", "record"),
        |it| runs(it, "shop::Receipt", "record"),
    ),
    case(
        Rule::DestinationParticipantMirrored,
        &SHOP,
        Part::Domain(0),
        |it| runs(it, "shop::LineVersion", "create"),
        |it| runs(it, "shop::LineVersion", "read"),
    ),
    case(
        Rule::DestinationParticipantInvalid,
        &SHOP,
        Part::Domain(0),
        |it| runs(it, "shop::MailOutbox", "record"),
        |it| runs(it, "shop::Receipt", "record"),
    ),
    case(
        Rule::DestinationParticipantInvalid,
        &SHOP,
        Part::Domain(0),
        |it| {
            action(it, "Receipt", 0, |action| {
                action.visibility = Visibility::Private
            })
        },
        |_| {},
    ),
    case(
        Rule::DestinationActionTenantBypass,
        &SHOP,
        Part::Domain(0),
        |it| {
            action(it, "Receipt", 0, |action| {
                action.tenancy = ActionTenancy::Bypass
            })
        },
        |it| {
            action(it, "Receipt", 0, |action| {
                action.tenancy = ActionTenancy::AllowGlobal
            })
        },
    ),
    case(
        Rule::DestinationParticipantTenant,
        &SHOP,
        Part::Domain(0),
        |it| changed(it, "Order", untenanted),
        |it| {
            changed(it, "Order", untenanted);
            changed(it, "Receipt", untenanted);
        },
    ),
    case(
        Rule::DestinationParticipantTenant,
        &SHOP,
        Part::Domain(0),
        |it| changed(it, "Order", untenanted),
        |it| {
            changed(it, "Order", untenanted);
            action(it, "Receipt", 0, |action| {
                action.tenancy = ActionTenancy::AllowGlobal
            });
        },
    ),
    case(
        Rule::DestinationParticipantCycle,
        &SHOP,
        Part::Domain(0),
        |it| {
            circle(it);
            ledger_runs(it, "shop::Receipt");
        },
        |it| {
            circle(it);
            action(it, "Ledger", 0, |action| action.name = Some("enter"));
        },
    ),
];

fn judged(case: &Case, change: fn(&mut SinkSpec)) -> Vec<(Rule, Part)> {
    let mut sink = *case.start;
    change(&mut sink);
    found(relations::check(&sink))
}

#[test]
fn each_relation_is_broken_alone_at_its_part_and_its_neighbour_is_legal() {
    for case in all() {
        assert_eq!(judged(case, |_| {}), [], "{} begins illegally", case.rule);
        assert_eq!(
            judged(case, case.broken),
            [(case.rule, case.part)],
            "{}",
            case.rule
        );
        assert_eq!(
            judged(case, case.legal),
            [],
            "{} has no legal neighbour",
            case.rule
        );
    }
}

#[test]
fn a_broken_resource_causes_no_second_error() {
    let mut sink = SHOP;
    runs(&mut sink, "shop::Receipt", "recrod");
    changed(&mut sink, "Receipt", |spec| spec.broken = true);
    assert_eq!(found(relations::check(&sink)), []);
    let mut sink = SHOP;
    runs(&mut sink, "nowhere", "at_all");
    changed(&mut sink, "Order", |spec| spec.broken = true);
    assert_eq!(found(relations::check(&sink)), []);
}

#[test]
fn a_circle_is_told_once_with_its_way() {
    let mut sink = SHOP;
    circle(&mut sink);
    ledger_runs(&mut sink, "shop::Receipt");
    assert_eq!(count(&sink), 5);
    let refused = std::panic::catch_unwind(|| {
        let index = Index::<5>::new(&sink);
        let rule = Rule::DestinationParticipantCycle;
        relations::refuse(&sink, &index, rule, Part::Domain(0));
    });
    let message = refused.unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(
        message.starts_with(
            "replicant[destination_participant_cycle]: \
             hooks run in a circle: Receipt::record -> Ledger::enter -> Receipt::record\nhelp: "
        ),
        "{message}"
    );
}

#[test]
fn siblings_that_run_the_same_action_are_no_circle() {
    let mut sink = SHOP;
    let again = ActionRef {
        resource: "shop::Receipt",
        action: "record",
    };
    action(&mut sink, "Order", 2, |action| {
        let hook = HookSpec {
            name: "hooks::Both",
            participants: vec![again, again].leak(),
        };
        action.changes = vec![hook, hook].leak();
    });
    assert_eq!(found(relations::check(&sink)), []);
}

#[test]
fn more_actions_than_can_be_followed_are_refused() {
    let mut sink = SHOP;
    let names: Vec<&'static str> = (0..300)
        .map(|index| &*format!("shop::Chain{index}").leak())
        .collect();
    for (index, name) in names.iter().enumerate() {
        let next = names.get(index + 1).copied().unwrap_or("shop::Receipt");
        let hook = HookSpec {
            name: "hooks::Next",
            participants: vec![ActionRef {
                resource: next,
                action: "record",
            }]
            .leak(),
        };
        let record = ActionSpec {
            changes: vec![hook].leak(),
            touches: vec![next].leak(),
            ..RECEIPT.actions[0]
        };
        with(
            &mut sink,
            ResourceSpec {
                rust_name: name,
                rust_path: name,
                target: table(name),
                actions: vec![record].leak(),
                ..RECEIPT
            },
        );
    }
    let found = found(relations::check(&sink));
    assert!(!found.is_empty());
    assert!(
        found
            .iter()
            .all(|(rule, _)| *rule == Rule::DestinationParticipantCycle)
    );
}
