//! Snapshot provenance.

use super::{Case, actions, at, case, text};
use crate::contract::action::{ActionKind, Marking};
use crate::contract::column::Visibility;
use crate::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredMultitenancy, DeclaredResource, DeclaredStrategy,
};
use crate::contract::rules::{Part, Rule};
use crate::contract::tenancy::TenancyReach;
use crate::contract::tests::declarations::ORDER;

fn a_schema_per_tenant(it: &mut DeclaredResource) {
    it.tenancy.block = Some(DeclaredMultitenancy {
        strategy: Some(DeclaredStrategy::Context),
        schema: text("tenant_{}"),
        ..DeclaredMultitenancy::default()
    });
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::ProvenancePublic,
        &ORDER,
        Part::Field(5),
        |it| {
            at(it, "replica_fingerprint").visibility = Visibility::Public;
            // It would be accepted by `all`, and that is the same mistake.
        },
        |_| {},
    ),
    case(
        Rule::ProvenanceAccepted,
        &ORDER,
        Part::AcceptField(3, 0),
        |it| actions(it)[3].accept = super::accept(&["replica_seen_attempt"]),
        |it| actions(it)[3].accept = super::accept(&["amount"]),
    ),
    case(
        Rule::MarkActionMissing,
        &ORDER,
        Part::MarkAction,
        |it| {
            it.provenance.mark_action = text("mark");
            actions(it)[4].marking = Marking::Unmarked;
        },
        |it| {
            it.provenance.mark_action = text("mark");
            actions(it)[4].name = text("mark");
        },
    ),
    case(
        Rule::MarkActionMissing,
        &ORDER,
        Part::Provenance,
        |it| {
            it.provenance.mark_action = None;
            actions(it)[4].kind = ActionKind::Destroy;
        },
        |it| it.provenance.mark_action = None,
    ),
    case(
        Rule::MarkActionUnmarked,
        &ORDER,
        Part::Action(4),
        |it| actions(it)[4].marking = Marking::Unmarked,
        |_| {},
    ),
    case(
        Rule::MarkSeenElsewhere,
        &ORDER,
        Part::ActionMarking(3),
        |it| actions(it)[3].marking = Marking::MarkSeen,
        |_| {},
    ),
    case(
        Rule::RetireActionMissing,
        &ORDER,
        Part::RetireAction,
        |it| actions(it)[5].kind = ActionKind::Update,
        |_| {},
    ),
    case(
        Rule::RetireActionMissing,
        &ORDER,
        Part::Provenance,
        |it| {
            it.provenance.retire_action = None;
            actions(it).truncate(5);
        },
        |it| it.provenance.retire_action = None,
    ),
    case(
        Rule::SnapshotActionPublic,
        &ORDER,
        Part::ActionName(5),
        |it| actions(it)[5].visibility = Visibility::Public,
        |_| {},
    ),
    case(
        Rule::SnapshotScopesMissing,
        &ORDER,
        Part::Provenance,
        a_schema_per_tenant,
        |it| {
            a_schema_per_tenant(it);
            it.provenance.scopes = text("tenants::all");
        },
    ),
    case(
        Rule::SnapshotScopesMissing,
        &ORDER,
        Part::Provenance,
        a_schema_per_tenant,
        |it| {
            a_schema_per_tenant(it);
            it.tenancy.block.as_mut().unwrap().reach = TenancyReach::Global;
        },
    ),
    // A mirror without provenance may have an update that anybody runs, but none that marks.
    case(
        Rule::MarkSeenElsewhere,
        &crate::contract::tests::ORDERS,
        Part::ActionMarking(3),
        |it| {
            actions(it).push(DeclaredAction {
                marking: Marking::MarkSeen,
                ..DeclaredAction::new(ActionKind::Update, DeclaredAccept::All)
            });
        },
        |it| actions(it).push(DeclaredAction::new(ActionKind::Update, DeclaredAccept::All)),
    ),
];
