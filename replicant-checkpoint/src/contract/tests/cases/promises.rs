//! What types promise.

use super::{Part, Rule, found};
use crate::contract::action::ActionSpec;
use crate::contract::column::{ColumnSpec, Nullability, Origin, Protection, Storage, Wrapping};
use crate::contract::resource::{ResourceSpec, Shape};
use crate::contract::rules::{promises as judged, types};
use crate::contract::tenancy::{Tenancy, TenancyReach, TenancyStrategy, TenantSource};
use crate::contract::tests::declarations::{LINE_VERSION, ORDER, OUTBOX, PAYMENT_EVENT};

/// One rule about a compiled resource.
pub(super) struct Case {
    pub(super) rule: Rule,
    start: &'static ResourceSpec,
    part: Part,
    broken: fn(&mut ResourceSpec),
    legal: fn(&mut ResourceSpec),
}

const fn case(
    rule: Rule,
    start: &'static ResourceSpec,
    part: Part,
    broken: fn(&mut ResourceSpec),
    legal: fn(&mut ResourceSpec),
) -> Case {
    Case {
        rule,
        start,
        part,
        broken,
        legal,
    }
}

fn column(it: &mut ResourceSpec, index: usize, change: impl FnOnce(&mut ColumnSpec)) {
    let mut columns = it.columns.to_vec();
    change(&mut columns[index]);
    it.columns = columns.leak();
}

fn action(it: &mut ResourceSpec, index: usize, change: impl FnOnce(&mut ActionSpec)) {
    let mut actions = it.actions.to_vec();
    change(&mut actions[index]);
    it.actions = actions.leak();
}

fn global(it: &mut ResourceSpec) {
    it.tenancy = Tenancy::Tenanted {
        strategy: TenancyStrategy::Attribute("org_id"),
        reach: TenancyReach::Global,
        source: Some(TenantSource::Attribute("org_id")),
    };
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::KeyNullable,
        &ORDER,
        Part::ColumnType(0),
        |it| column(it, 0, |column| column.nullability = Nullability::Nullable),
        |it| column(it, 2, |column| column.nullability = Nullability::Nullable),
    ),
    case(
        Rule::EncryptedType,
        &ORDER,
        Part::ColumnType(3),
        |it| column(it, 3, |column| column.wrapping = Wrapping::Bare),
        |_| {},
    ),
    case(
        Rule::EncryptedMissing,
        &ORDER,
        Part::ColumnType(3),
        |it| column(it, 3, |column| column.protection = Protection::Plain),
        |_| {},
    ),
    case(
        Rule::SensitivePlain,
        &ORDER,
        Part::ColumnType(4),
        |it| column(it, 4, |column| column.storage = Storage::Text),
        |it| {
            column(it, 4, |column| column.storage = Storage::Text);
            it.sensitive = &["pan"];
        },
    ),
    case(
        Rule::SensitivePlain,
        &PAYMENT_EVENT,
        Part::ColumnType(12),
        |it| {
            it.sensitive = &["amount"];
            column(it, 11, |column| column.storage = Storage::Bytes);
        },
        |it| {
            it.sensitive = &["amount"];
            column(it, 11, |column| column.storage = Storage::Bytes);
            column(it, 12, |column| {
                column.protection = Protection::Sealed;
                column.wrapping = Wrapping::Sealed;
            });
        },
    ),
    case(
        Rule::RoleStorage,
        &LINE_VERSION,
        Part::ColumnType(4),
        |it| column(it, 4, |column| column.storage = Storage::Int4),
        |_| {},
    ),
    case(
        Rule::RoleStorage,
        &PAYMENT_EVENT,
        Part::ColumnType(7),
        |it| column(it, 7, |column| column.storage = Storage::Text),
        |_| {},
    ),
    case(
        Rule::RoleStorage,
        &ORDER,
        Part::ColumnType(5),
        |it| column(it, 5, |column| column.storage = Storage::Text),
        |_| {},
    ),
    case(
        Rule::RoleNullability,
        &LINE_VERSION,
        Part::ColumnType(5),
        |it| column(it, 5, |column| column.nullability = Nullability::NotNull),
        |it| column(it, 8, |column| column.nullability = Nullability::Nullable),
    ),
    // One mistake about NULL is enough, although the field is part of a key as well.
    case(
        Rule::RoleNullability,
        &LINE_VERSION,
        Part::ColumnType(4),
        |it| column(it, 4, |column| column.nullability = Nullability::Nullable),
        |_| {},
    ),
    case(
        Rule::EventNullable,
        &PAYMENT_EVENT,
        Part::ColumnType(11),
        |it| column(it, 11, |column| column.nullability = Nullability::NotNull),
        |it| {
            column(it, 11, |column| column.nullability = Nullability::NotNull);
            if let Shape::AppendLog(append) = &mut it.shape {
                append.message_prefix = None;
                append.message_content = None;
            }
            let rows = it.columns.iter().copied();
            let rows = rows.filter(|column| !column.field.starts_with("message_"));
            it.columns = rows.collect::<Vec<_>>().leak();
        },
    ),
    case(
        Rule::EventNullable,
        &PAYMENT_EVENT,
        Part::ColumnType(12),
        |it| column(it, 12, |column| column.nullability = Nullability::NotNull),
        |_| {},
    ),
    case(
        Rule::TenantStorage,
        &ORDER,
        Part::ColumnType(1),
        |it| column(it, 1, |column| column.storage = Storage::Bytes),
        |it| column(it, 1, |column| column.storage = Storage::Int8),
    ),
    case(
        Rule::TenantNullable,
        &ORDER,
        Part::ColumnType(1),
        |it| column(it, 1, |column| column.nullability = Nullability::Nullable),
        |it| {
            column(it, 1, |column| column.nullability = Nullability::Nullable);
            global(it);
        },
    ),
    case(
        Rule::MessageContentType,
        &OUTBOX,
        Part::ColumnType(1),
        |it| column(it, 1, |column| column.storage = Storage::Json),
        |it| column(it, 1, |column| column.storage = Storage::Bytes),
    ),
    case(
        Rule::DestinationParticipantMismatch,
        &ORDER,
        Part::Change(2, 0),
        |it| action(it, 2, |action| action.touches = &[]),
        |it| {
            action(it, 2, |action| {
                action.touches = &[];
                action.changes = &[];
            });
        },
    ),
    case(
        Rule::DestinationParticipantMismatch,
        &ORDER,
        Part::Touch(2, 1),
        |it| {
            action(it, 2, |action| {
                action.touches = &["shop::Receipt", "shop::Order"]
            })
        },
        |_| {},
    ),
];

#[test]
fn each_promise_is_broken_alone_at_its_part_and_its_neighbour_keeps_it() {
    for case in CASES {
        let judge = |change: fn(&mut ResourceSpec)| {
            let mut spec = *case.start;
            change(&mut spec);
            found(types(&spec))
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
fn the_compilers_refusal_is_the_same_judgement() {
    for case in CASES {
        let mut spec = *case.start;
        (case.broken)(&mut spec);
        let refused = std::panic::catch_unwind(|| judged::refuse(&spec, case.rule, case.part));
        let message = refused.unwrap_err();
        let message = message.downcast_ref::<String>().unwrap();
        let code = format!("replicant[{}]: `", case.rule.code());
        assert!(
            message.starts_with(&code) || message.starts_with(&code[..code.len() - 1]),
            "{message}"
        );
        assert!(message.ends_with(case.rule.help()), "{message}");
    }
}

#[test]
fn a_before_image_is_as_sensitive_as_the_column() {
    assert_eq!(PAYMENT_EVENT.columns[12].origin, Origin::Before("amount"));
}
