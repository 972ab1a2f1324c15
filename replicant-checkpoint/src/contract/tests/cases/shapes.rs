//! How rows are held.

use super::{Case, case, column, text, texts};
use crate::contract::declared::{DeclaredOrigin, DeclaredShape, DeclaredTenantFn};
use crate::contract::resource::OnTruncate;
use crate::contract::role::Role;
use crate::contract::rules::{Part, Rule};
use crate::contract::tests::ORDERS;
use crate::contract::tests::declarations::{LINE_VERSION, OUTBOX, PAYMENT_EVENT};

pub(super) const CASES: &[Case] = &[
    case(
        Rule::ShapeConflict,
        &LINE_VERSION,
        Part::Shape(1),
        |it| it.shapes.push(DeclaredShape::AppendLog),
        |_| {},
    ),
    case(
        Rule::HistoryOptionUnused,
        &ORDERS,
        Part::Role(Role::ValidTo),
        |it| it.roles.push((Role::ValidTo, "note".into())),
        |_| {},
    ),
    case(
        Rule::HistoryOptionUnused,
        &ORDERS,
        Part::BusinessKey,
        |it| it.history.business_key = Some(texts(&["id"])),
        |_| {},
    ),
    case(
        Rule::HistoryOptionUnused,
        &ORDERS,
        Part::CloseAction,
        |it| it.history.close_action = text("close_version"),
        |_| {},
    ),
    case(
        Rule::AppendOptionUnused,
        &ORDERS,
        Part::Role(Role::Slot),
        |it| it.roles.push((Role::Slot, "note".into())),
        |_| {},
    ),
    case(
        Rule::AppendOptionUnused,
        &LINE_VERSION,
        Part::AppendAction,
        |it| it.append.action = text("create"),
        |_| {},
    ),
    case(
        Rule::AppendOptionUnused,
        &ORDERS,
        Part::AppendIdentity,
        |it| it.append.identity = text("by_note"),
        |_| {},
    ),
    case(
        Rule::SnapshotOptionUnused,
        &ORDERS,
        Part::MarkAction,
        |it| it.provenance.mark_action = text("mark"),
        |_| {},
    ),
    case(
        Rule::SnapshotOptionUnused,
        &ORDERS,
        Part::RetireAction,
        |it| it.provenance.retire_action = text("retire"),
        |_| {},
    ),
    case(
        Rule::SnapshotOptionUnused,
        &ORDERS,
        Part::SnapshotScopes,
        |it| it.provenance.scopes = text("scopes"),
        |_| {},
    ),
    case(
        Rule::AuxiliarySource,
        &OUTBOX,
        Part::SourceTable,
        |it| it.source_table = text("mail"),
        |it| it.table = text("mail"),
    ),
    case(
        Rule::AuxiliarySource,
        &OUTBOX,
        Part::Skip(0),
        |it| it.skips = texts(&["a"]),
        |_| {},
    ),
    case(
        Rule::AuxiliarySource,
        &OUTBOX,
        Part::Sensitive(0),
        |it| it.sensitive = texts(&["content"]),
        |_| {},
    ),
    case(
        Rule::AuxiliarySource,
        &OUTBOX,
        Part::OnTruncate,
        |it| it.on_truncate = Some(OnTruncate::Close),
        |_| {},
    ),
    case(
        Rule::AuxiliarySource,
        &OUTBOX,
        Part::TenantFunction,
        |it| it.tenancy.function = Some(DeclaredTenantFn::default()),
        |_| {},
    ),
    case(
        Rule::AuxiliarySource,
        &OUTBOX,
        Part::ColumnSource(2),
        |it| {
            it.columns
                .push(column("a", DeclaredOrigin::Source("a".into())))
        },
        |it| it.columns.push(column("a", DeclaredOrigin::Action)),
    ),
    case(
        Rule::BeforeOutsideLog,
        &LINE_VERSION,
        Part::ColumnBefore(9),
        |it| {
            it.columns
                .push(column("was", DeclaredOrigin::Before("amount".into())))
        },
        |it| {
            it.columns
                .push(column("is", DeclaredOrigin::Source("is".into())))
        },
    ),
    case(
        Rule::TruncateCloseWithoutHistory,
        &ORDERS,
        Part::OnTruncate,
        |it| it.on_truncate = Some(OnTruncate::Close),
        |it| it.on_truncate = Some(OnTruncate::Mirror),
    ),
    case(
        Rule::TruncateCloseWithoutHistory,
        &PAYMENT_EVENT,
        Part::OnTruncate,
        |it| it.on_truncate = Some(OnTruncate::Close),
        |it| it.on_truncate = Some(OnTruncate::Append),
    ),
    case(
        Rule::TruncateAppendWithoutLog,
        &LINE_VERSION,
        Part::OnTruncate,
        |it| it.on_truncate = Some(OnTruncate::Append),
        |it| it.on_truncate = Some(OnTruncate::Close),
    ),
    case(
        Rule::TruncateOfLog,
        &PAYMENT_EVENT,
        Part::OnTruncate,
        |it| it.on_truncate = Some(OnTruncate::Mirror),
        |it| it.on_truncate = Some(OnTruncate::Halt),
    ),
];
