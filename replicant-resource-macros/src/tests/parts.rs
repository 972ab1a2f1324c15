//! Every part of a declaration that a rule can point at has a token of its own.

use proc_macro2::TokenStream;
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::role::Role;
use replicant_checkpoint::contract::rules::Part;

use crate::declaration::Declaration;
use crate::diagnostics::Diagnostics;
use crate::domain::texts;
use crate::item::Wanted;
use crate::spans::Spans;

/// Illegal in many ways, and readable: lowering has no opinion.
const RESOURCE: &str = r#"source_schema = "a", source_table = "b", schema = "c", table = "d", skip(e), sensitive(s),
    identity(f, keys(id), all_tenants, where = "w"), upsert_identity = f, on_truncate = close, on_schema_change = ignore,
    multitenancy(strategy = attribute, attribute = t, schema = "u_{}"), tenant_attribute = v,
    tenant_fn(path = x::y, args("z")), append_log, history_strategy = scd2, history_business_key(bk),
    history_close_action = ca, history_current_attribute = cur, append_action = aa, append_identity = ai,
    append_slot_attribute = sl, snapshot_provenance, snapshot_mark_action = ma, snapshot_retire_action = ra,
    snapshot_scopes(path = sc::f),
    actions(read, destroy, create(accept(id)), update(g, accept(id), private, mark_seen, multitenancy = bypass,
        changes(H), validations(V), touches(R), message(retention = "72h", effect = E)))"#;
const ITEM: &str = r#"struct A {
    #[replicant(primary_key, source = "h", column = "i", sql_type = "text")] id: String,
    #[replicant(private, generated)] j: i64,
    #[replicant(encrypted, before = k)] l: i64,
}"#;

fn read(place: Place, wanted: Wanted, options: &str, item: &str) -> Declaration {
    let mut diagnostics = Diagnostics::default();
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let (options, item) = (tokens(options), tokens(item));
    let read = Declaration::read(place, wanted, options, item, &mut diagnostics);
    let found = diagnostics.take();
    assert!(found.is_empty(), "{found:?}");
    read.ok().unwrap()
}

fn resource() -> Spans {
    let mut declaration = read(Place::Resource, Wanted::NamedFields, RESOURCE, ITEM);
    let mut diagnostics = Diagnostics::default();
    crate::resource::lower(&mut declaration, &mut diagnostics);
    assert!(diagnostics.take().is_empty());
    declaration.spans
}

fn checkpoint() -> Spans {
    let options = r#"schema = "a", grants(select = "b")"#;
    let mut read = read(Place::Checkpoint, Wanted::Unit, options, "struct C;");
    crate::checkpoint::lower(&read.options, &mut read.spans);
    read.spans
}

fn sink() -> Spans {
    let options = r#"slot_name = "a", domains(D), checkpoint = C, ignored_sources("b.c"), sink_kind = append_log,
        initial_state = snapshot, message_routes(route("p", q::R, act)), ignored_message_prefixes("i"),
        recovery_horizon = "24h""#;
    let mut read = read(Place::Sink, Wanted::Unit, options, "struct S;");
    crate::sink::lower(&read.options, &mut read.spans);
    texts(read.options.paths("domains"), &mut read.spans, Part::Domain);
    read.spans
}

fn domain() -> Spans {
    let mut read = read(Place::Domain, Wanted::Unit, "resources(A)", "struct D;");
    texts(
        read.options.paths("resources"),
        &mut read.spans,
        Part::DomainResource,
    );
    read.spans
}

/// The declaration a part belongs to. A new part does not compile until it is placed here, and then needs a line in
/// the test below.
fn spans_of(part: Part) -> Spans {
    match part {
        Part::Item
        | Part::SourceSchema
        | Part::SourceTable
        | Part::TargetSchema
        | Part::TargetTable
        | Part::Field(_)
        | Part::ColumnSource(_)
        | Part::ColumnTarget(_)
        | Part::ColumnSqlType(_)
        | Part::ColumnPrivate(_)
        | Part::ColumnGenerated(_)
        | Part::ColumnType(_)
        | Part::Skip(_)
        | Part::PrimaryKey(_)
        | Part::IdentityName(_)
        | Part::IdentityKeys(_)
        | Part::IdentityKey(..)
        | Part::UpsertIdentity
        | Part::Actions
        | Part::Action(_)
        | Part::ActionName(_)
        | Part::ActionAccept(_)
        | Part::AcceptField(..)
        | Part::ColumnEncrypted(_)
        | Part::ColumnBefore(_)
        | Part::Sensitive(_)
        | Part::Shape(_)
        | Part::Role(_)
        | Part::BusinessKey
        | Part::BusinessKeyField(_)
        | Part::CloseAction
        | Part::AppendAction
        | Part::AppendIdentity
        | Part::Provenance
        | Part::MarkAction
        | Part::RetireAction
        | Part::SnapshotScopes
        | Part::Multitenancy
        | Part::TenancyStrategy
        | Part::TenancyAttribute
        | Part::TenancySchema
        | Part::TenantAttribute
        | Part::TenantFunction
        | Part::OnTruncate
        | Part::OnSchemaChange
        | Part::IdentityReach(_)
        | Part::IdentityPredicate(_)
        | Part::ActionPrivate(_)
        | Part::ActionTenancy(_)
        | Part::ActionMarking(_)
        | Part::Change(..)
        | Part::Validation(..)
        | Part::Touch(..)
        | Part::Message(_)
        | Part::MessageRetention(_)
        | Part::MessageEffect(_) => resource(),
        Part::CheckpointSchema | Part::SelectGrant => checkpoint(),
        Part::SlotName
        | Part::SinkKind
        | Part::InitialState
        | Part::IgnoredSource(_)
        | Part::MessageRoutes
        | Part::RoutePrefix(_)
        | Part::RouteResource(_)
        | Part::RouteAction(_)
        | Part::IgnoredPrefix(_)
        | Part::RecoveryHorizon
        | Part::Domain(_) => sink(),
        Part::DomainResource(_) => domain(),
    }
}

#[test]
fn every_part_has_a_span() {
    for (part, text) in [
        (Part::Item, "A"),
        (Part::SourceSchema, "\"a\""),
        (Part::SourceTable, "\"b\""),
        (Part::TargetSchema, "\"c\""),
        (Part::TargetTable, "\"d\""),
        (Part::Field(0), "id"),
        (Part::ColumnSource(0), "\"h\""),
        (Part::ColumnSource(1), "j"),
        (Part::ColumnTarget(0), "\"i\""),
        (Part::ColumnTarget(1), "j"),
        (Part::ColumnSqlType(0), "\"text\""),
        (Part::ColumnPrivate(1), "private"),
        (Part::ColumnGenerated(1), "generated"),
        (Part::ColumnType(0), "String"),
        (Part::Skip(0), "e"),
        (Part::Sensitive(0), "s"),
        (Part::ColumnEncrypted(2), "encrypted"),
        (Part::ColumnBefore(2), "k"),
        (Part::Shape(0), "append_log"),
        (Part::Shape(1), "scd2"),
        (Part::Role(Role::Current), "cur"),
        (Part::Role(Role::Slot), "sl"),
        (Part::BusinessKey, "history_business_key"),
        (Part::BusinessKeyField(0), "bk"),
        (Part::CloseAction, "ca"),
        (Part::AppendAction, "aa"),
        (Part::AppendIdentity, "ai"),
        (Part::Provenance, "snapshot_provenance"),
        (Part::MarkAction, "ma"),
        (Part::RetireAction, "ra"),
        (Part::SnapshotScopes, "snapshot_scopes"),
        (Part::Multitenancy, "multitenancy"),
        (Part::TenancyStrategy, "attribute"),
        (Part::TenancyAttribute, "t"),
        (Part::TenancySchema, "\"u_{}\""),
        (Part::TenantAttribute, "v"),
        (Part::TenantFunction, "tenant_fn"),
        (Part::OnTruncate, "close"),
        (Part::OnSchemaChange, "ignore"),
        (Part::IdentityReach(0), "all_tenants"),
        (Part::IdentityPredicate(0), "\"w\""),
        (Part::ActionPrivate(3), "private"),
        (Part::ActionTenancy(3), "bypass"),
        (Part::ActionMarking(3), "mark_seen"),
        (Part::Change(3, 0), "H"),
        (Part::Validation(3, 0), "V"),
        (Part::Touch(3, 0), "R"),
        (Part::Message(3), "message"),
        (Part::MessageRetention(3), "\"72h\""),
        (Part::MessageEffect(3), "E"),
        (Part::SinkKind, "append_log"),
        (Part::InitialState, "snapshot"),
        (Part::MessageRoutes, "message_routes"),
        (Part::RoutePrefix(0), "\"p\""),
        (Part::RouteResource(0), "R"),
        (Part::RouteAction(0), "act"),
        (Part::IgnoredPrefix(0), "\"i\""),
        (Part::RecoveryHorizon, "\"24h\""),
        (Part::PrimaryKey(0), "primary_key"),
        (Part::IdentityName(0), "f"),
        (Part::IdentityKeys(0), "keys"),
        (Part::IdentityKey(0, 0), "id"),
        (Part::UpsertIdentity, "f"),
        (Part::Actions, "actions"),
        (Part::Action(2), "create"),
        (Part::ActionName(3), "g"),
        (Part::ActionAccept(2), "accept"),
        (Part::AcceptField(3, 0), "id"),
        (Part::CheckpointSchema, "\"a\""),
        (Part::SelectGrant, "\"b\""),
        (Part::SlotName, "\"a\""),
        (Part::IgnoredSource(0), "\"b.c\""),
        (Part::Domain(0), "D"),
        (Part::DomainResource(0), "A"),
    ] {
        let spans = spans_of(part);
        assert!(spans.knows(part), "{part:?}");
        assert_eq!(
            spans.of(part).source_text().as_deref(),
            Some(text),
            "{part:?}"
        );
    }
}
