//! Tenants.

use super::{Case, actions, at, case, column, identity, mapped, text, texts};
use crate::contract::action::{ActionKind, ActionTenancy};
use crate::contract::column::Protection;
use crate::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredMultitenancy, DeclaredOrigin, DeclaredResource,
    DeclaredStrategy, DeclaredTenantFn,
};
use crate::contract::identity::IdentityReach;
use crate::contract::rules::{Part, Rule};
use crate::contract::tenancy::TenancyReach;
use crate::contract::tests::ORDERS;
use crate::contract::tests::declarations::{LINE_VERSION, ORDER, RECEIPT};

fn block(it: &mut DeclaredResource) -> &mut DeclaredMultitenancy {
    it.tenancy.block.as_mut().unwrap()
}

fn by_function(it: &mut DeclaredResource) {
    it.tenancy.attribute = None;
    it.tenancy.function = Some(DeclaredTenantFn {
        path: "tenants::of".into(),
        args: texts(&["eu"]),
    });
}

fn schema(it: &mut DeclaredResource, schema: &str) {
    it.provenance.scopes = text("tenants::all");
    *block(it) = DeclaredMultitenancy {
        strategy: Some(DeclaredStrategy::Context),
        schema: text(schema),
        ..DeclaredMultitenancy::default()
    };
}

fn global(it: &mut DeclaredResource) {
    it.tenancy.attribute = None;
    block(it).reach = TenancyReach::Global;
}

const fn schema_case(broken: fn(&mut DeclaredResource), legal: fn(&mut DeclaredResource)) -> Case {
    case(
        Rule::TenancySchemaInvalid,
        &ORDER,
        Part::TenancySchema,
        broken,
        legal,
    )
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::TargetSchemaUnused,
        &ORDER,
        Part::TargetSchema,
        |it| {
            schema(it, "tenant_{}");
            it.schema = text("mirror");
        },
        // Nothing tells a tenant, so the table is where it says.
        |it| {
            schema(it, "tenant_{}");
            it.schema = text("mirror");
            global(it);
        },
    ),
    case(
        Rule::TenantSourceWithoutTenancy,
        &ORDER,
        Part::TenantAttribute,
        |it| it.tenancy.block = None,
        |it| {
            it.tenancy.block = None;
            it.tenancy.attribute = None;
        },
    ),
    case(
        Rule::TenantSourceWithoutTenancy,
        &ORDERS,
        Part::TenantFunction,
        |it| it.tenancy.function = Some(DeclaredTenantFn::default()),
        |it| {
            it.columns.push(column("org_id", DeclaredOrigin::Stamp));
            it.tenancy.function = Some(DeclaredTenantFn::default());
            it.tenancy.block = Some(DeclaredMultitenancy {
                strategy: Some(DeclaredStrategy::Attribute),
                attribute: text("org_id"),
                ..DeclaredMultitenancy::default()
            });
        },
    ),
    case(
        Rule::TenantSourceMissing,
        &ORDER,
        Part::Multitenancy,
        |it| it.tenancy.attribute = None,
        by_function,
    ),
    case(
        Rule::TenantSourceMissing,
        &ORDER,
        Part::Multitenancy,
        |it| {
            schema(it, "tenant_{}");
            it.tenancy.attribute = None;
        },
        global,
    ),
    case(
        Rule::TenantSourceRepeated,
        &ORDER,
        Part::TenantFunction,
        |it| it.tenancy.function = Some(DeclaredTenantFn::default()),
        by_function,
    ),
    case(
        Rule::TenantFieldUnknown,
        &ORDER,
        Part::TenantAttribute,
        |it| {
            it.tenancy.attribute = text("orgid");
        },
        |_| {},
    ),
    // A skipped column is no field either.
    case(
        Rule::TenantFieldUnknown,
        &ORDER,
        Part::TenantAttribute,
        |it| it.tenancy.attribute = text("legacy_blob"),
        |_| {},
    ),
    case(
        Rule::TenantFieldUnknown,
        &RECEIPT,
        Part::TenancyAttribute,
        |it| block(it).attribute = text("orgid"),
        |_| {},
    ),
    case(
        Rule::TenantNotMapped,
        &ORDER,
        Part::TenantAttribute,
        |it| at(it, "org_id").origin = DeclaredOrigin::Destination,
        |it| at(it, "org_id").origin = DeclaredOrigin::Source("organisation".into()),
    ),
    // A function's tenant is written by the sink, the one of an attribute is read.
    case(
        Rule::TenantNotMapped,
        &ORDER,
        Part::TenantAttribute,
        |it| at(it, "org_id").origin = DeclaredOrigin::Stamp,
        |it| {
            at(it, "org_id").origin = DeclaredOrigin::Stamp;
            by_function(it);
        },
    ),
    case(
        Rule::TenantSensitive,
        &ORDER,
        Part::TenantAttribute,
        |it| it.sensitive.push("org_id".into()),
        |it| it.sensitive.push("amount".into()),
    ),
    case(
        Rule::TenantSensitive,
        &ORDER,
        Part::TenantAttribute,
        |it| at(it, "org_id").protection = Protection::Sealed,
        |it| at(it, "amount").protection = Protection::Sealed,
    ),
    case(
        Rule::TenantSensitive,
        &RECEIPT,
        Part::TenancyAttribute,
        |it| at(it, "org_id").protection = Protection::Sealed,
        |it| at(it, "total").protection = Protection::Sealed,
    ),
    case(
        Rule::TenancyAttributeMissing,
        &ORDER,
        Part::TenancyStrategy,
        |it| block(it).attribute = None,
        |_| {},
    ),
    case(
        Rule::TenancySchemaMissing,
        &ORDER,
        Part::TenancyStrategy,
        |it| {
            schema(it, "");
            block(it).schema = None;
        },
        |it| schema(it, "tenant_{}"),
    ),
    schema_case(|it| schema(it, "tenant"), |it| schema(it, "tenant_{}")),
    schema_case(|it| schema(it, "{}"), |it| schema(it, "t{}")),
    schema_case(|it| schema(it, "a_{}_{}"), |it| schema(it, "a_{}_b")),
    schema_case(|it| schema(it, "{}_tenant"), |it| schema(it, "x{}_tenant")),
    schema_case(|it| schema(it, "pg_{}"), |it| schema(it, "pgx_{}")),
    schema_case(|it| schema(it, "p{}"), |it| schema(it, "px{}")),
    schema_case(
        |it| schema(it, "information_{}"),
        |it| schema(it, "information_{}_"),
    ),
    schema_case(
        |it| schema(it, &format!("{}_{{}}", "x".repeat(62))),
        |it| schema(it, &format!("{}_{{}}", "x".repeat(40))),
    ),
    case(
        Rule::TenancyOptionUnused,
        &ORDER,
        Part::TenancySchema,
        |it| block(it).schema = text("tenant_{}"),
        |_| {},
    ),
    case(
        Rule::TenancyOptionUnused,
        &ORDER,
        Part::TenancyAttribute,
        |it| {
            schema(it, "tenant_{}");
            block(it).attribute = text("org_id");
        },
        |it| schema(it, "tenant_{}"),
    ),
    case(
        Rule::IdentityKeyTenant,
        &ORDER,
        Part::IdentityKey(0, 0),
        |it| it.identities = vec![identity("unique_pk", &["org_id", "id"])],
        |it| {
            it.identities = vec![identity("unique_pk", &["org_id", "id"])];
            it.identities[0].reach = IdentityReach::AllTenants;
        },
    ),
    case(
        Rule::IdentityKeyTenant,
        &LINE_VERSION,
        Part::BusinessKeyField(0),
        |it| {
            it.history.business_key = Some(texts(&["org_id", "line_id"]));
            it.identities[0].keys = Some(texts(&["org_id", "line_id", "valid_from_lsn"]));
            it.identities[0].reach = IdentityReach::AllTenants;
        },
        |_| {},
    ),
    case(
        Rule::ActionTenantBypass,
        &ORDER,
        Part::ActionTenancy(2),
        |it| actions(it)[2].tenancy = ActionTenancy::Bypass,
        |it| actions(it)[2].tenancy = ActionTenancy::AllowGlobal,
    ),
    case(
        Rule::ActionTenantBypass,
        &ORDER,
        Part::ActionTenancy(0),
        |it| actions(it)[0].tenancy = ActionTenancy::BypassAll,
        // The sink never runs the unnamed update of a mirror.
        |it| actions(it)[3].tenancy = ActionTenancy::BypassAll,
    ),
    case(
        Rule::ActionTenantBypass,
        &ORDER,
        Part::ActionTenancy(4),
        |it| actions(it)[4].tenancy = ActionTenancy::Bypass,
        |_| {},
    ),
    case(
        Rule::ActionTenantBypass,
        &ORDER,
        Part::ActionTenancy(5),
        |it| actions(it)[5].tenancy = ActionTenancy::Bypass,
        |it| {
            actions(it).push(DeclaredAction {
                name: text("sweep"),
                tenancy: ActionTenancy::Bypass,
                ..DeclaredAction::new(ActionKind::Destroy, super::accept(&[]))
            });
        },
    ),
    case(
        Rule::ActionTenantBypass,
        &LINE_VERSION,
        Part::ActionTenancy(3),
        |it| actions(it)[3].tenancy = ActionTenancy::Bypass,
        |it| actions(it)[3].accept = DeclaredAccept::All,
    ),
    // Without tenants there is nothing to bypass.
    case(
        Rule::ActionTenantBypass,
        &LINE_VERSION,
        Part::ActionTenancy(2),
        |it| actions(it)[2].tenancy = ActionTenancy::Bypass,
        |it| {
            it.tenancy.block = None;
            it.tenancy.attribute = None;
            actions(it)[2].tenancy = ActionTenancy::Bypass;
        },
    ),
    // A tenant that another field tells is written by the sink, and both are judged.
    case(
        Rule::TenantNotMapped,
        &ORDER,
        Part::TenancyAttribute,
        |it| {
            it.columns.push(mapped("org_code"));
            it.tenancy.attribute = text("org_code");
            at(it, "org_id").origin = DeclaredOrigin::Destination;
        },
        |it| {
            it.columns.push(mapped("org_code"));
            it.tenancy.attribute = text("org_code");
            at(it, "org_id").origin = DeclaredOrigin::Stamp;
        },
    ),
];
