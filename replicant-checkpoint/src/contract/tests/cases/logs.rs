//! Append logs.

use super::{Case, accept, actions, case, identity, mapped, text};
use crate::contract::declared::{
    DeclaredMultitenancy, DeclaredResource, DeclaredStrategy, Written,
};
use crate::contract::identity::IdentityReach;
use crate::contract::resource::OnTruncate;
use crate::contract::rules::{Part, Rule};
use crate::contract::tenancy::TenancyReach;
use crate::contract::tests::declarations::PAYMENT_EVENT;

const AXES: &[&str] = &[
    "source_system_id",
    "source_database",
    "slot_name",
    "commit_lsn",
    "ordinal",
];

fn tenanted(it: &mut DeclaredResource) {
    it.columns.push(mapped("org_id"));
    it.tenancy.attribute = text("org_id");
    it.tenancy.block = Some(DeclaredMultitenancy {
        strategy: Some(DeclaredStrategy::Attribute),
        attribute: text("org_id"),
        ..DeclaredMultitenancy::default()
    });
}

fn per_schema(it: &mut DeclaredResource) {
    it.tenancy.block = Some(DeclaredMultitenancy {
        strategy: Some(DeclaredStrategy::Context),
        schema: text("tenant_{}"),
        ..DeclaredMultitenancy::default()
    });
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::AppendLogPerSchema,
        &PAYMENT_EVENT,
        Part::TenancyStrategy,
        |it| {
            it.on_truncate = Some(OnTruncate::Halt);
            it.identities[0].reach = IdentityReach::AllTenants;
            tenanted(it);
            per_schema(it);
        },
        // Without anything that tells tenants, there is one log.
        |it| {
            it.on_truncate = Some(OnTruncate::Halt);
            it.identities[0].reach = IdentityReach::AllTenants;
            tenanted(it);
            per_schema(it);
            it.tenancy.attribute = None;
            it.tenancy.block.as_mut().unwrap().reach = TenancyReach::Global;
        },
    ),
    case(
        Rule::AppendIdentityUnknown,
        &PAYMENT_EVENT,
        Part::AppendIdentity,
        |it| it.append.identity = text("event"),
        |it| {
            it.append.identity = text("event");
            it.identities[0].name = "event".into();
        },
    ),
    case(
        Rule::AppendIdentityUnknown,
        &PAYMENT_EVENT,
        Part::Shape(0),
        |it| {
            it.append.identity = None;
            it.identities.clear();
        },
        |it| it.append.identity = None,
    ),
    case(
        Rule::AppendIdentityKeys,
        &PAYMENT_EVENT,
        Part::IdentityKeys(0),
        |it| it.identities = vec![identity("append_identity", &AXES[..4])],
        |it| it.identities = vec![identity("append_identity", AXES)],
    ),
    case(
        Rule::AppendIdentityPerTenant,
        &PAYMENT_EVENT,
        Part::IdentityName(0),
        |it| {
            tenanted(it);
            it.identities[0].reach = IdentityReach::Tenant;
        },
        tenanted,
    ),
    case(
        Rule::AppendActionMissing,
        &PAYMENT_EVENT,
        Part::AppendAction,
        |it| actions(it)[1].name = None,
        |it| {
            actions(it)[1].name = text("record");
            it.append.action = text("record");
        },
    ),
    case(
        Rule::AppendActionMissing,
        &PAYMENT_EVENT,
        Part::Shape(0),
        |it| {
            it.append.action = None;
            actions(it).pop();
        },
        |it| it.append.action = None,
    ),
    case(
        Rule::AppendUpsertIdentity,
        &PAYMENT_EVENT,
        Part::UpsertIdentity,
        |it| it.upsert_identity = text("append_identity"),
        |_| {},
    ),
    case(
        Rule::AppendProvenance,
        &PAYMENT_EVENT,
        Part::Provenance,
        |it| {
            it.provenance.opted_in = Written::Yes;
            for field in ["replica_fingerprint", "replica_seen_attempt"] {
                let stamp = crate::contract::declared::DeclaredOrigin::Stamp;
                it.columns.push(super::column(field, stamp));
            }
        },
        |_| {},
    ),
    case(
        Rule::TruncateAppendOfTenant,
        &PAYMENT_EVENT,
        Part::OnTruncate,
        |it| {
            tenanted(it);
            it.on_truncate = Some(OnTruncate::Append);
        },
        |it| it.on_truncate = Some(OnTruncate::Append),
    ),
    // What records an event records all of it.
    case(
        Rule::ColumnNotAccepted,
        &PAYMENT_EVENT,
        Part::ActionAccept(1),
        |it| actions(it)[1].accept = accept(AXES),
        |_| {},
    ),
];
