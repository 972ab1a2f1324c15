//! Every field of a declaration, changed in every way that has a class of its own: what the stored contract sees of it
//! and whether a checkpoint may go on.
//!
//! The lists are total: a field without a line does not compile.

use crate::contract::action::{
    Accept, ActionKind, ActionSpec, ActionTenancy, HookSpec, Marking, MessageSpec,
};
use crate::contract::append::AppendSpec;
use crate::contract::column::{
    ColumnSpec, Fidelity, Nullability, Origin, Protection, Storage, Visibility, Wrapping,
};
use crate::contract::drift::{Drift, classify, classify_stored};
use crate::contract::history::HistorySpec;
use crate::contract::identity::{IdentityReach, IdentitySpec};
use crate::contract::manifest::Manifest;
use crate::contract::provenance::ProvenanceSpec;
use crate::contract::resource::{OnSchemaChange, OnTruncate, ResourceSpec, Shape};
use crate::contract::sink::{CheckpointSpec, InitialState, MessageRoute, SinkKind, SinkSpec};
use crate::contract::tenancy::{Tenancy, TenancyReach, TenancyStrategy, TenantSource};
use crate::contract::tests::declarations::{
    LINE_VERSION, ORDER, OUTBOX, PAYMENT_EVENT, PAYMENTS, RECEIPT, SHOP, hours, table,
};

/// Changes of each field and their classes. Destructuring makes the list total.
macro_rules! fields {
    ($start:ident: $type:ident { $($field:ident: [$($change:expr => $class:literal),+ $(,)?]),+ $(,)? }) => {{
        let $type { $($field: _),+ } = $start;
        let cases: Vec<(&str, fn(&mut $type), &str)> = vec![
            $($((stringify!($field), $change, $class)),+),+
        ];
        cases
    }};
}

fn class(old: &SinkSpec, new: &SinkSpec) -> &'static str {
    let (old, new) = (Manifest::new(old, &["p"]), Manifest::new(new, &["p"]));
    let drift = classify(&old, &new);
    assert_eq!(classify_stored(&old.encode(), &new), drift);
    assert_eq!(old.encode() == new.encode(), drift == Drift::Equal);
    match drift {
        Drift::Equal => "equal",
        Drift::Grown => "grown",
        Drift::Incompatible(reason) => reason.code(),
    }
}

/// The sink with another version of one of its resources.
fn with(sink: &SinkSpec, spec: ResourceSpec) -> SinkSpec {
    let domains = sink.domains.iter().map(|domain| {
        let resources = domain.iter().map(|resource| {
            if resource.rust_name == spec.rust_name {
                &*Box::leak(Box::new(spec))
            } else {
                *resource
            }
        });
        &*resources.collect::<Vec<&'static ResourceSpec>>().leak()
    });
    let domains: Vec<&'static [&'static ResourceSpec]> = domains.collect();
    SinkSpec {
        domains: domains.leak(),
        ..*sink
    }
}

fn judge_resources(
    sink: &SinkSpec,
    start: &ResourceSpec,
    cases: Vec<(&str, fn(&mut ResourceSpec), &str)>,
) {
    for (field, change, expected) in cases {
        let mut spec = *start;
        change(&mut spec);
        assert_ne!(spec, *start, "{field} is not changed");
        // Another source is one table less and one more.
        assert_eq!(class(sink, &with(sink, spec)), expected, "{field}");
    }
}

fn tenancy(
    strategy: TenancyStrategy,
    reach: TenancyReach,
    source: Option<TenantSource>,
) -> Tenancy {
    Tenancy::Tenanted {
        strategy,
        reach,
        source,
    }
}

const BY_COLUMN: TenancyStrategy = TenancyStrategy::Attribute("org_id");
const TOLD: Option<TenantSource> = Some(TenantSource::Attribute("org_id"));

#[test]
fn every_field_of_a_resource_is_classified() {
    let start = ORDER;
    let cases = fields!(start: ResourceSpec {
        rust_name: [|it| it.rust_path = "Order" => "equal"],
        rust_path: [|it| it.rust_path = "elsewhere::Order" => "equal"],
        source: [|it| it.source = table("zz") => "relation_removed"],
        target: [|it| it.target = table("zz") => "relation_retargeted"],
        shape: [|it| it.shape = LINE_VERSION.shape => "shape_changed"],
        tenancy: [
            |it| it.tenancy = Tenancy::Untenanted => "tenant_source",
            |it| it.tenancy = tenancy(BY_COLUMN, TenancyReach::Global, TOLD) => "grown",
            |it| it.tenancy = tenancy(TenancyStrategy::Attribute("amount"), TenancyReach::Scoped, TOLD)
                => "tenant_source",
            |it| it.tenancy = tenancy(BY_COLUMN, TenancyReach::Scoped, Some(TenantSource::Attribute("id")))
                => "tenant_source",
            |it| it.tenancy = tenancy(
                BY_COLUMN, TenancyReach::Scoped, Some(TenantSource::Function { path: "f", args: &[] }),
            ) => "tenant_source",
            |it| it.tenancy = tenancy(
                TenancyStrategy::Context { schema: "tenant_{}" }, TenancyReach::Scoped, TOLD,
            ) => "relation_retargeted",
        ],
        columns: [
            |it| it.columns = &it.columns[..4] => "column_removed",
            |it| {
                let more = [it.columns, &[ColumnSpec::new("zz", Storage::Text)]].concat();
                it.columns = more.leak();
            } => "grown",
        ],
        skips: [
            |it| it.skips = &["legacy_blob", "zz"] => "grown",
            |it| it.skips = &[] => "skip_reactivated",
        ],
        sensitive: [|it| it.sensitive = &[] => "equal"],
        primary_key: [|it| it.primary_key = &["amount"] => "equal"],
        identities: [
            |it| it.identities = const { &[IdentitySpec::new("unique_pk", &["amount"])] } => "key_changed",
        ],
        upsert_identity: [|it| it.upsert_identity = None => "key_changed"],
        provenance: [|it| it.provenance = None => "provenance_removed"],
        on_truncate: [|it| it.on_truncate = OnTruncate::Mirror => "grown"],
        on_schema_change: [|it| it.on_schema_change = OnSchemaChange::Ignore => "grown"],
        actions: [|it| it.actions = &it.actions[..2] => "grown"],
        broken: [|it| it.broken = true => "equal"],
    });
    judge_resources(&SHOP, &start, cases);
}

#[test]
fn growth_is_not_taken_back() {
    let mut global = ORDER;
    global.tenancy = tenancy(BY_COLUMN, TenancyReach::Global, TOLD);
    assert_eq!(class(&with(&SHOP, global), &SHOP), "tenant_source");
    let mut unmarked = ORDER;
    unmarked.provenance = None;
    assert_eq!(class(&with(&SHOP, unmarked), &SHOP), "grown");
    let mut function = ORDER;
    let told = |args| Some(TenantSource::Function { path: "f", args });
    function.tenancy = tenancy(BY_COLUMN, TenancyReach::Scoped, told(&["a", "b"]));
    let mut swapped = function;
    swapped.tenancy = tenancy(BY_COLUMN, TenancyReach::Scoped, told(&["b", "a"]));
    assert_eq!(
        class(&with(&SHOP, function), &with(&SHOP, swapped)),
        "tenant_source"
    );
}

#[test]
fn every_field_of_a_column_is_classified() {
    // The fourth column of an order is sealed, the third is not.
    let start = ORDER.columns[2];
    let cases = fields!(start: ColumnSpec {
        field: [|it| it.field = "total" => "equal"],
        origin: [
            |it| it.origin = Origin::Source("total") => "column_removed",
            |it| it.origin = Origin::Before("amount") => "column_removed",
            |it| it.origin = Origin::Destination => "column_removed",
            |it| it.origin = Origin::Stamp => "column_removed",
        ],
        target: [|it| it.target = "total" => "column_changed"],
        storage: [|it| it.storage = Storage::Any => "column_type"],
        nullability: [|it| it.nullability = Nullability::Nullable => "equal"],
        fidelity: [|it| it.fidelity = Fidelity::Lossy => "grown"],
        protection: [|it| it.protection = Protection::Sealed => "column_changed"],
        wrapping: [|it| it.wrapping = Wrapping::Sealed => "equal"],
        visibility: [|it| it.visibility = Visibility::Private => "equal"],
        sql_type: [|it| it.sql_type = Some("numeric(12,2)") => "equal"],
    });
    for (field, change, expected) in cases {
        let mut columns = ORDER.columns.to_vec();
        change(&mut columns[2]);
        assert_ne!(columns, ORDER.columns, "{field} is not changed");
        let spec = ResourceSpec {
            columns: columns.leak(),
            ..ORDER
        };
        assert_eq!(class(&SHOP, &with(&SHOP, spec)), expected, "{field}");
    }
}

#[test]
fn every_field_of_an_identity_is_classified() {
    let start = ORDER.identities[0];
    let cases = fields!(start: IdentitySpec {
        name: [|it| it.name = "other" => "key_changed"],
        keys: [|it| it.keys = &["id", "amount"] => "key_changed"],
        reach: [|it| it.reach = IdentityReach::AllTenants => "key_changed"],
        predicate: [|it| it.predicate = Some("true") => "equal"],
    });
    for (field, change, expected) in cases {
        let mut identity = start;
        change(&mut identity);
        assert_ne!(identity, start, "{field} is not changed");
        let spec = ResourceSpec {
            identities: vec![identity].leak(),
            ..ORDER
        };
        assert_eq!(class(&SHOP, &with(&SHOP, spec)), expected, "{field}");
    }
}

#[test]
fn every_field_of_an_action_is_classified() {
    let start = ORDER.actions[2];
    let cases = fields!(start: ActionSpec {
        kind: [|it| it.kind = ActionKind::Update => "grown"],
        name: [|it| it.name = Some("record") => "grown"],
        accept: [|it| it.accept = Accept::Fields(&["id"]) => "equal"],
        visibility: [|it| it.visibility = Visibility::Private => "equal"],
        tenancy: [|it| it.tenancy = ActionTenancy::AllowGlobal => "equal"],
        marking: [|it| it.marking = Marking::MarkSeen => "equal"],
        changes: [
            |it| it.changes = &[] => "grown",
            |it| it.changes = &[HookSpec { name: "hooks::Receipts", participants: &[] }] => "equal",
        ],
        validations: [|it| it.validations = &["hooks::Other"] => "grown"],
        touches: [|it| it.touches = &[] => "equal"],
        message: [
            |it| it.message = Some(MessageSpec { retention: hours(1), effect: None }) => "equal",
        ],
    });
    for (field, change, expected) in cases {
        let mut actions = ORDER.actions.to_vec();
        change(&mut actions[2]);
        assert_ne!(actions, ORDER.actions, "{field} is not changed");
        let spec = ResourceSpec {
            actions: actions.leak(),
            ..ORDER
        };
        assert_eq!(class(&SHOP, &with(&SHOP, spec)), expected, "{field}");
    }
}

#[test]
fn every_field_of_a_history_is_classified() {
    let Shape::History(start) = LINE_VERSION.shape else {
        panic!("no history");
    };
    let cases = fields!(start: HistorySpec {
        business_key: [|it| it.business_key = &["line_id", "amount"] => "business_key_changed"],
        valid_from_lsn: [|it| it.valid_from_lsn = "valid_to_lsn" => "roles_changed"],
        valid_to_lsn: [|it| it.valid_to_lsn = "valid_from_lsn" => "roles_changed"],
        valid_from: [|it| it.valid_from = None => "roles_changed"],
        valid_to: [|it| it.valid_to = None => "roles_changed"],
        current: [|it| it.current = None => "roles_changed"],
        close_action: [|it| it.close_action = "close" => "equal"],
    });
    for (field, change, expected) in cases {
        let mut history = start;
        change(&mut history);
        assert_ne!(history, start, "{field} is not changed");
        let spec = ResourceSpec {
            shape: Shape::History(history),
            ..LINE_VERSION
        };
        assert_eq!(class(&SHOP, &with(&SHOP, spec)), expected, "{field}");
    }
}

#[test]
fn every_field_of_an_append_log_is_classified() {
    let Shape::AppendLog(start) = PAYMENT_EVENT.shape else {
        panic!("no log");
    };
    let cases = fields!(start: AppendSpec {
        action: [|it| it.action = "record" => "equal"],
        identity: [|it| it.identity = "other" => "key_changed"],
        source_system: [|it| it.source_system = "amount" => "roles_changed"],
        source_database: [|it| it.source_database = "amount" => "roles_changed"],
        slot: [|it| it.slot = "amount" => "roles_changed"],
        commit_lsn: [|it| it.commit_lsn = "id" => "roles_changed"],
        ordinal: [|it| it.ordinal = "id" => "roles_changed"],
        operation: [|it| it.operation = "amount" => "roles_changed"],
        origin: [|it| it.origin = "amount" => "roles_changed"],
        attempt: [|it| it.attempt = "amount" => "roles_changed"],
        unchanged: [|it| it.unchanged = Some("amount") => "roles_changed"],
        commit_timestamp: [|it| it.commit_timestamp = Some("amount") => "roles_changed"],
        xid: [|it| it.xid = Some("id") => "roles_changed"],
        message_prefix: [|it| it.message_prefix = None => "roles_changed"],
        message_content: [|it| it.message_content = None => "roles_changed"],
    });
    for (field, change, expected) in cases {
        let mut append = start;
        change(&mut append);
        assert_ne!(append, start, "{field} is not changed");
        let spec = ResourceSpec {
            shape: Shape::AppendLog(append),
            ..PAYMENT_EVENT
        };
        assert_eq!(
            class(&PAYMENTS, &with(&PAYMENTS, spec)),
            expected,
            "{field}"
        );
    }
}

#[test]
fn every_field_of_provenance_is_classified() {
    let start = ORDER.provenance.unwrap();
    let cases = fields!(start: ProvenanceSpec {
        mark_action: [|it| it.mark_action = "mark" => "equal"],
        retire_action: [|it| it.retire_action = "retire" => "equal"],
        scopes: [|it| it.scopes = Some("scopes") => "equal"],
    });
    for (field, change, expected) in cases {
        let mut provenance = start;
        change(&mut provenance);
        assert_ne!(provenance, start, "{field} is not changed");
        let spec = ResourceSpec {
            provenance: Some(provenance),
            ..ORDER
        };
        assert_eq!(class(&SHOP, &with(&SHOP, spec)), expected, "{field}");
    }
}

#[test]
fn every_field_of_a_sink_is_classified() {
    let start = SHOP;
    let cases = fields!(start: SinkSpec {
        rust_name: [|it| it.rust_name = "Other" => "equal"],
        slot_name: [|it| it.slot_name = "other" => "equal"],
        kind: [|it| it.kind = SinkKind::AppendLog => "sink_kind"],
        initial_state: [|it| it.initial_state = Some(InitialState::Snapshot) => "initial_state"],
        domains: [
            |it| it.domains = const { &[&[&ORDER, &RECEIPT, &LINE_VERSION, &OUTBOX]] } => "equal",
            |it| it.domains = const { &[&[&ORDER, &RECEIPT, &OUTBOX]] } => "relation_removed",
            // An auxiliary resource is no relation.
            |it| it.domains = const { &[&[&ORDER, &LINE_VERSION, &OUTBOX]] } => "equal",
        ],
        ignored_sources: [
            |it| it.ignored_sources = const { &[table("audit")] } => "ignores",
            |it| it.ignored_sources = const { &[table("audit"), table("sessions"), table("zz")] } => "grown",
        ],
        message_routes: [
            |it| it.message_routes = &[] => "route_removed",
            |it| {
                let more = MessageRoute { prefix: "letter", ..it.message_routes[0] };
                it.message_routes = vec![more, it.message_routes[0]].leak();
            } => "grown",
            // What was ignored may be routed.
            |it| {
                let more = MessageRoute { prefix: "debug", ..it.message_routes[0] };
                it.message_routes = vec![more, it.message_routes[0]].leak();
                it.ignored_message_prefixes = &[];
            } => "grown",
            // What was routed may not be ignored.
            |it| {
                it.message_routes = &[];
                it.ignored_message_prefixes = &["debug", "mail"];
            } => "route_removed",
        ],
        ignored_message_prefixes: [
            |it| it.ignored_message_prefixes = &[] => "ignored_prefixes",
            |it| it.ignored_message_prefixes = &["debug", "zz"] => "grown",
        ],
        recovery_horizon: [|it| it.recovery_horizon = Some(hours(1)) => "equal"],
        checkpoint: [
            |it| it.checkpoint = CheckpointSpec { schema: "x", select_grant: Some("ops") } => "equal",
        ],
    });
    for (field, change, expected) in cases {
        let mut sink = start;
        change(&mut sink);
        assert_ne!(sink, start, "{field} is not changed");
        assert_eq!(class(&start, &sink), expected, "{field}");
    }
}

#[test]
fn every_field_of_a_route_is_classified() {
    let start = SHOP.message_routes[0];
    let cases = fields!(start: MessageRoute {
        prefix: [|it| it.prefix = "letter" => "route_removed"],
        resource: [
            |it| it.resource = "shop::Receipt" => "route_changed",
        ],
        action: [|it| it.action = "other" => "route_changed"],
    });
    for (field, change, expected) in cases {
        let mut route = start;
        change(&mut route);
        assert_ne!(route, start, "{field} is not changed");
        let sink = SinkSpec {
            message_routes: vec![route].leak(),
            ..SHOP
        };
        assert_eq!(class(&SHOP, &sink), expected, "{field}");
    }
}

#[test]
fn another_effect_of_a_message_is_another_route() {
    let mut outbox = OUTBOX;
    let mut actions = outbox.actions.to_vec();
    actions[0].message = Some(MessageSpec {
        retention: hours(1),
        effect: Some("mail::Send"),
    });
    outbox.actions = actions.leak();
    assert_eq!(class(&SHOP, &with(&SHOP, outbox)), "route_changed");
}
