//! Tables that are read or written twice, or are not for the sink.

use super::{Case, case, changed, with};
use crate::contract::resource::{ResourceSpec, TableName};
use crate::contract::rules::{Part, Rule};
use crate::contract::sink::{SinkKind, SinkSpec};
use crate::contract::tenancy::{Tenancy, TenancyReach, TenancyStrategy, TenantSource};
use crate::contract::tests::declarations::{ORDER, OUTBOX, PAYMENT_EVENT, PAYMENTS, SHOP, table};
use crate::contract::tests::resource;

const COPY: ResourceSpec = ResourceSpec {
    rust_path: "shop::Copy",
    ..resource("Copy", "copies", "copies")
};

/// The sink with two resources more, whose tables have one name in the schemas of tenants.
fn two_of_tenants(it: &mut SinkSpec, first: &'static str, second: &'static str) {
    let copy = |rust_name, source, tenancy| ResourceSpec {
        rust_name,
        rust_path: rust_name,
        source: table(source),
        tenancy,
        ..COPY
    };
    with(it, copy("Once", "once", per_tenant(first)));
    with(it, copy("Again", "again", per_tenant(second)));
}

const fn per_tenant(schema: &'static str) -> Tenancy {
    Tenancy::Tenanted {
        strategy: TenancyStrategy::Context { schema },
        reach: TenancyReach::Scoped,
        source: Some(TenantSource::Attribute("id")),
    }
}

pub(super) const CASES: &[Case] = &[
    case(
        Rule::DuplicateResource,
        &SHOP,
        Part::Domain(2),
        |it| with(it, ORDER),
        |it| with(it, COPY),
    ),
    case(
        Rule::DuplicateResource,
        &SHOP,
        Part::Domain(2),
        |it| with(it, OUTBOX),
        |it| with(it, COPY),
    ),
    case(
        Rule::DuplicateSource,
        &SHOP,
        Part::Domain(2),
        |it| {
            with(
                it,
                ResourceSpec {
                    source: table("orders"),
                    ..COPY
                },
            )
        },
        |it| with(it, COPY),
    ),
    case(
        Rule::DuplicateTarget,
        &SHOP,
        Part::Domain(2),
        |it| {
            with(
                it,
                ResourceSpec {
                    target: table("orders"),
                    ..COPY
                },
            )
        },
        |it| {
            let target = TableName {
                schema: "other",
                table: "orders",
            };
            with(it, ResourceSpec { target, ..COPY });
        },
    ),
    case(
        Rule::TargetSharedByTenants,
        &SHOP,
        Part::Domain(3),
        |it| {
            two_of_tenants(it, "tenant_{}", "tenant_eu_{}");
        },
        |it| {
            two_of_tenants(it, "tenant_{}", "archive_{}");
        },
    ),
    case(
        Rule::TargetSharedByTenants,
        &SHOP,
        Part::Domain(3),
        |it| {
            two_of_tenants(it, "tenant_{}", "{}_archive");
        },
        // Nothing tells their tenants, so both are written where their own options say.
        |it| {
            two_of_tenants(it, "tenant_{}", "{}_archive");
            changed(it, "Again", |spec| {
                spec.tenancy = Tenancy::Tenanted {
                    strategy: TenancyStrategy::Context {
                        schema: "{}_archive",
                    },
                    reach: TenancyReach::Global,
                    source: None,
                }
            });
        },
    ),
    case(
        Rule::ResourcePathRepeated,
        &SHOP,
        Part::Domain(2),
        |it| {
            with(
                it,
                ResourceSpec {
                    rust_path: "shop::Order",
                    ..COPY
                },
            )
        },
        |it| with(it, COPY),
    ),
    case(
        Rule::TargetInCheckpointSchema,
        &SHOP,
        Part::Domain(2),
        |it| {
            let target = TableName {
                schema: "replicant",
                table: "t",
            };
            with(it, ResourceSpec { target, ..COPY });
        },
        |it| with(it, COPY),
    ),
    case(
        Rule::TargetInCheckpointSchema,
        &SHOP,
        Part::Domain(2),
        |it| {
            with(
                it,
                ResourceSpec {
                    tenancy: per_tenant("repl{}"),
                    ..COPY
                },
            )
        },
        |it| {
            with(
                it,
                ResourceSpec {
                    tenancy: per_tenant("tenant_{}"),
                    ..COPY
                },
            )
        },
    ),
    case(
        Rule::TargetInCheckpointSchema,
        &SHOP,
        Part::Domain(2),
        |it| {
            with(
                it,
                ResourceSpec {
                    tenancy: per_tenant("{}"),
                    ..COPY
                },
            )
        },
        // Without a schema per tenant the braces are part of the name.
        |it| {
            let target = TableName {
                schema: "{}",
                table: "t",
            };
            with(it, ResourceSpec { target, ..COPY });
        },
    ),
    case(
        Rule::IgnoredSourceMapped,
        &SHOP,
        Part::IgnoredSource(1),
        |it| {
            with(
                it,
                ResourceSpec {
                    source: table("sessions"),
                    ..COPY
                },
            )
        },
        |it| with(it, COPY),
    ),
    case(
        Rule::SinkKindMixed,
        &SHOP,
        Part::Domain(2),
        |it| with(it, PAYMENT_EVENT),
        |it| with(it, COPY),
    ),
    case(
        Rule::SinkKindMixed,
        &PAYMENTS,
        Part::Domain(1),
        |it| with(it, COPY),
        |it| with(it, OUTBOX),
    ),
    case(
        Rule::SinkKindMixed,
        &PAYMENTS,
        Part::Domain(0),
        |it| {
            it.kind = SinkKind::StateMirror;
            it.message_routes = &[];
        },
        |it| it.message_routes = &[],
    ),
];
