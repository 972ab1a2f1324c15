//! Actions, hooks and messages of a resource.

use super::{Case, accept, actions, at, case, drop_column, text, texts};
use crate::contract::action::ActionKind;
use crate::contract::column::Visibility;
use crate::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredMessage, DeclaredMultitenancy, DeclaredOrigin,
    DeclaredResource, DeclaredStrategy,
};
use crate::contract::rules::{Part, Rule};
use crate::contract::tenancy::TenancyReach;
use crate::contract::tests::ORDERS;
use crate::contract::tests::declarations::{LINE_VERSION, ORDER, OUTBOX, PAYMENT_EVENT, RECEIPT};

fn named(kind: ActionKind, name: &str) -> DeclaredAction {
    DeclaredAction {
        name: text(name),
        ..DeclaredAction::new(kind, accept(&[]))
    }
}

fn tenanted(it: &mut DeclaredResource, reach: TenancyReach) {
    it.columns
        .push(super::column("org_id", DeclaredOrigin::Action));
    it.tenancy.block = Some(DeclaredMultitenancy {
        strategy: Some(DeclaredStrategy::Attribute),
        attribute: text("org_id"),
        schema: None,
        reach,
    });
}

fn message() -> DeclaredMessage {
    DeclaredMessage {
        retention: text("72h"),
        effect: None,
    }
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::PrimaryActionRepeated,
        &ORDERS,
        Part::Action(3),
        |it| actions(it).push(DeclaredAction::new(ActionKind::Create, DeclaredAccept::All)),
        |it| actions(it).push(named(ActionKind::Create, "record")),
    ),
    case(
        Rule::ActionNameRepeated,
        &ORDERS,
        Part::ActionName(4),
        |it| {
            actions(it).push(named(ActionKind::Create, "record"));
            actions(it).push(named(ActionKind::Update, "record"));
        },
        |it| {
            actions(it).push(named(ActionKind::Create, "record"));
            actions(it).push(named(ActionKind::Update, "rerecord"));
        },
    ),
    case(
        Rule::ActionNameReserved,
        &ORDERS,
        Part::ActionName(3),
        |it| actions(it).push(named(ActionKind::Create, "update")),
        |it| actions(it).push(named(ActionKind::Create, "updated")),
    ),
    case(
        Rule::ActionNameInvalid,
        &ORDERS,
        Part::ActionName(3),
        |it| actions(it).push(named(ActionKind::Create, "re-record")),
        |it| actions(it).push(named(ActionKind::Create, "match")),
    ),
    case(
        Rule::ActionNameInvalid,
        &ORDERS,
        Part::ActionName(3),
        |it| actions(it).push(named(ActionKind::Create, "self")),
        |it| actions(it).push(named(ActionKind::Create, "_1")),
    ),
    case(
        Rule::ActionMissing,
        &ORDERS,
        Part::Actions,
        |it| drop(actions(it).pop()),
        |it| actions(it).push(DeclaredAction::new(ActionKind::Update, DeclaredAccept::All)),
    ),
    case(
        Rule::ActionMissing,
        &LINE_VERSION,
        Part::Actions,
        |it| drop(actions(it).remove(0)),
        |_| {},
    ),
    case(
        Rule::ActionMissing,
        &PAYMENT_EVENT,
        Part::Actions,
        |it| drop(actions(it).remove(0)),
        |it| actions(it).push(named(ActionKind::Destroy, "erase")),
    ),
    case(
        Rule::AcceptWithoutWrite,
        &ORDERS,
        Part::ActionAccept(0),
        |it| actions(it)[0].accept = DeclaredAccept::All,
        |_| {},
    ),
    case(
        Rule::AcceptRepeated,
        &ORDERS,
        Part::AcceptField(1, 3),
        |it| actions(it)[1].accept = accept(&["id", "note", "amount", "id"]),
        |it| actions(it)[1].accept = accept(&["id", "note", "amount"]),
    ),
    case(
        Rule::AcceptUnknown,
        &ORDERS,
        Part::AcceptField(1, 2),
        |it| actions(it)[1].accept = accept(&["id", "note", "amuont"]),
        |it| actions(it)[1].accept = accept(&["id", "note", "amount"]),
    ),
    case(
        Rule::AcceptGenerated,
        &LINE_VERSION,
        Part::AcceptField(3, 0),
        |it| actions(it)[3].accept = accept(&["version_id", "valid_to_lsn", "valid_to", "current"]),
        |_| {},
    ),
    case(
        Rule::AcceptPrivate,
        &OUTBOX,
        Part::AcceptField(0, 1),
        |it| {
            let mut hidden = super::column("hidden", DeclaredOrigin::Action);
            hidden.visibility = Visibility::Private;
            it.columns.push(hidden);
            actions(it)[0].accept = accept(&["content", "hidden"]);
        },
        |it| {
            it.columns
                .push(super::column("shown", DeclaredOrigin::Action));
            actions(it)[0].accept = accept(&["content", "shown"]);
        },
    ),
    case(
        Rule::PrivateMapped,
        &ORDERS,
        Part::ColumnPrivate(1),
        |it| at(it, "note").visibility = Visibility::Private,
        |it| {
            drop_column(it, "note");
            it.identities.clear();
            it.skips.push("note".into());
        },
    ),
    case(
        Rule::PrivateMapped,
        &LINE_VERSION,
        Part::ColumnPrivate(4),
        |it| at(it, "valid_from_lsn").visibility = Visibility::Private,
        |_| {},
    ),
    case(
        Rule::ColumnNotAccepted,
        &ORDERS,
        Part::ActionAccept(1),
        |it| actions(it)[1].accept = accept(&["id", "note"]),
        |it| actions(it)[1].accept = accept(&["id", "note", "amount"]),
    ),
    // Windows are input of the create, too.
    case(
        Rule::ColumnNotAccepted,
        &LINE_VERSION,
        Part::ActionAccept(2),
        |it| {
            actions(it)[2].accept = accept(&[
                "line_id",
                "org_id",
                "amount",
                "valid_to_lsn",
                "valid_from",
                "valid_to",
                "current",
            ]);
        },
        |it| {
            actions(it)[2].accept = accept(&[
                "line_id",
                "org_id",
                "amount",
                "valid_from_lsn",
                "valid_to_lsn",
                "valid_from",
                "valid_to",
                "current",
            ]);
        },
    ),
    case(
        Rule::HookRepeated,
        &ORDER,
        Part::Validation(2, 1),
        |it| actions(it)[2].validations.push("hooks::Positive".into()),
        |it| actions(it)[2].validations.push("hooks::Receipts".into()),
    ),
    case(
        Rule::HookRepeated,
        &ORDER,
        Part::Change(2, 1),
        |it| actions(it)[2].changes.push("hooks::Receipts".into()),
        |it| actions(it)[2].changes.push("hooks::Other".into()),
    ),
    case(
        Rule::HookOnRead,
        &ORDER,
        Part::Change(0, 0),
        |it| actions(it)[0].changes = texts(&["hooks::Other"]),
        |it| actions(it)[1].changes = texts(&["hooks::Other"]),
    ),
    case(
        Rule::HookNeverRun,
        &ORDER,
        Part::Validation(3, 0),
        |it| actions(it)[3].validations = texts(&["hooks::Other"]),
        |it| actions(it)[1].validations = texts(&["hooks::Other"]),
    ),
    case(
        Rule::HookNeverRun,
        &LINE_VERSION,
        Part::Change(1, 0),
        |it| actions(it)[1].changes = texts(&["hooks::Other"]),
        |it| actions(it)[3].changes = texts(&["hooks::Other"]),
    ),
    case(
        Rule::TouchesRepeated,
        &ORDER,
        Part::Touch(2, 1),
        |it| actions(it)[2].touches.push("shop::Receipt".into()),
        |it| actions(it)[2].touches.push("shop::Other".into()),
    ),
    case(
        Rule::MessageNotCreate,
        &OUTBOX,
        Part::Message(0),
        |it| actions(it)[0].kind = ActionKind::Update,
        |it| actions(it).push(named(ActionKind::Update, "sent")),
    ),
    case(
        Rule::MessageNotAuxiliary,
        &ORDERS,
        Part::Message(1),
        |it| actions(it)[1].message = Some(message()),
        |_| {},
    ),
    case(
        Rule::MessageNotAuxiliary,
        &PAYMENT_EVENT,
        Part::Message(1),
        |it| actions(it)[1].message = Some(message()),
        |_| {},
    ),
    case(
        Rule::MessageTenanted,
        &OUTBOX,
        Part::Multitenancy,
        |it| tenanted(it, TenancyReach::Scoped),
        |it| tenanted(it, TenancyReach::Global),
    ),
    case(
        Rule::MessageContentMissing,
        &OUTBOX,
        Part::Message(0),
        |it| actions(it)[0].accept = accept(&[]),
        |it| actions(it)[0].accept = DeclaredAccept::All,
    ),
    case(
        Rule::MessageContentMissing,
        &RECEIPT,
        Part::Message(0),
        |it| {
            it.tenancy.block = None;
            actions(it)[0].message = Some(message());
        },
        |it| {
            it.tenancy.block = None;
            it.columns
                .push(super::column("content", DeclaredOrigin::Action));
            actions(it)[0].message = Some(message());
        },
    ),
    case(
        Rule::PeriodInvalid,
        &OUTBOX,
        Part::MessageRetention(0),
        |it| actions(it)[0].message.as_mut().unwrap().retention = text("72 hours"),
        |it| actions(it)[0].message.as_mut().unwrap().retention = text("3d"),
    ),
];
