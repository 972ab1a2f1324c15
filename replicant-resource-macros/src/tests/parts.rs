//! Every part of a declaration that a rule can point at has a token of its own.

use proc_macro2::TokenStream;
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::Part;

use crate::diagnostics::Diagnostics;
use crate::domain::texts;
use crate::item::{self, Item, Wanted};
use crate::options::Options;
use crate::resource::Spans;

const RESOURCE: &str = r#"source_schema = "a", source_table = "b", schema = "c", table = "d", skip(e),
    identity(f, keys(id)), upsert_identity = f, actions(read, destroy, create(accept(id)), update(g, accept(id)))"#;
const ITEM: &str = r#"struct A {
    #[replicant(primary_key, source = "h", column = "i", sql_type = "text")] id: String,
    #[replicant(private, generated)] j: i64,
}"#;

fn read(place: Place, wanted: Wanted, options: &str, item: &str) -> (Options, Item) {
    let mut diagnostics = Diagnostics::default();
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let nodes = crate::grammar::parse(tokens(options), &mut diagnostics);
    let options = Options::read(place, nodes, &mut diagnostics);
    let item = item::read(tokens(item), wanted, &mut diagnostics)
        .ok()
        .unwrap();
    assert!(diagnostics.take().is_empty());
    (options, item)
}

fn resource() -> Spans {
    let (options, item) = read(Place::Resource, Wanted::NamedFields, RESOURCE, ITEM);
    let mut diagnostics = Diagnostics::default();
    let lowered = crate::resource::lower(&options, &item, &mut diagnostics);
    assert!(diagnostics.take().is_empty());
    lowered.spans
}

fn checkpoint() -> Spans {
    let options = r#"schema = "a", grants(select = "b")"#;
    let (options, item) = read(Place::Checkpoint, Wanted::Unit, options, "struct C;");
    crate::checkpoint::lower(&options, &item).1
}

fn sink() -> Spans {
    let options = r#"slot_name = "a", domains(D), checkpoint = C, ignored_sources("b.c")"#;
    let (options, item) = read(Place::Sink, Wanted::Unit, options, "struct S;");
    let (_, mut spans) = crate::sink::lower(&options, &item);
    texts(options.paths("domains"), &mut spans, Part::Domain);
    spans
}

fn domain() -> Spans {
    let (options, _) = read(Place::Domain, Wanted::Unit, "resources(A)", "struct D;");
    let mut spans = Spans::default();
    texts(options.paths("resources"), &mut spans, Part::DomainResource);
    spans
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
