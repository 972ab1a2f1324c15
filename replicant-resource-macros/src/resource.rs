//! `#[replicant(...)]`: from options and fields to a declaration and the place of each of its parts.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use syn::Type;
use syn::spanned::Spanned;

use replicant_checkpoint::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredColumn, DeclaredIdentity, DeclaredOrigin,
    DeclaredResource,
};
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::resource::{
    ActionKind, IdentityReach, OnSchemaChange, OnTruncate, Protection, Visibility,
};
use replicant_checkpoint::contract::rules::{Part, Rule, names};

use crate::diagnostics::Diagnostics;
use crate::emit::{self, Library};
use crate::grammar::{self, Name, unraw};
use crate::item::{self, Field, Form, Item, Wanted};
use crate::options::{Options, Value};

/// Where each part of a declaration was written.
#[derive(Debug, Default)]
pub(crate) struct Spans(HashMap<Part, Span>);

impl Spans {
    /// Remembers where a part is.
    pub(crate) fn put(&mut self, part: Part, span: Span) {
        self.0.insert(part, span);
    }

    /// Where a part is; the item's name for what was left out.
    pub(crate) fn of(&self, part: Part) -> Span {
        let known = self.0.get(&part).or_else(|| self.0.get(&Part::Item));
        known.copied().unwrap_or_else(Span::call_site)
    }

    #[cfg(test)]
    pub(crate) fn knows(&self, part: Part) -> bool {
        self.0.contains_key(&part)
    }
}

/// A declaration as lowered from tokens, with what only generated code needs.
pub(crate) struct Lowered {
    pub(crate) declared: DeclaredResource,
    pub(crate) spans: Spans,
    pub(crate) columns: Vec<EmittedColumn>,
}

/// What generated code needs of a field beyond its names.
pub(crate) struct EmittedColumn {
    pub(crate) kind: Type,
    pub(crate) lossy: bool,
    pub(crate) conditional: bool,
}

/// Expands the attribute.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut tokens = expand_into(options, item, &mut diagnostics);
    tokens.extend(diagnostics.into_tokens());
    tokens
}

/// Expands the attribute, leaving the messages to the caller.
pub(crate) fn expand_into(
    options: TokenStream,
    item: TokenStream,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let nodes = grammar::parse(options, diagnostics);
    let options = Options::read(Place::Resource, nodes, diagnostics);
    let item = match item::read(item, Wanted::NamedFields, diagnostics) {
        Ok(item) => item,
        Err(tokens) => return tokens,
    };
    let library = Library::of(&options);
    if item.form == Form::Unusable {
        return emit::resource_stub(&item, &library);
    }
    let lowered = lower(&options, &item, diagnostics);
    let violations = names::resource(&lowered.declared);
    diagnostics.report_violations(violations, |violation| lowered.spans.of(violation.part()));
    emit::resource(&item, &lowered, &library, diagnostics.is_empty())
}

/// Reads options and fields into a declaration.
pub(crate) fn lower(options: &Options, item: &Item, diagnostics: &mut Diagnostics) -> Lowered {
    let mut spans = Spans::default();
    spans.put(Part::Item, item.name.span());
    options.require(
        Place::Resource,
        &item.name.to_string(),
        item.name.span(),
        diagnostics,
    );
    let mut named = |option: &str, part: Part| {
        let name = options.name(option)?;
        spans.put(part, name.span);
        Some(name.text.clone())
    };
    let table = named("table", Part::TargetTable);
    let schema = named("schema", Part::TargetSchema);
    let source_table = named("source_table", Part::SourceTable);
    let source_schema = named("source_schema", Part::SourceSchema);
    let upsert_identity = named("upsert_identity", Part::UpsertIdentity);
    let mut declared = DeclaredResource {
        rust_name: unraw(&item.name),
        // An option that is there but unreadable has no default: its mistake is reported already.
        source_schema: source_schema.or_else(|| default(options, "source_schema", "public")),
        source_table: source_table.or_else(|| {
            let name = options
                .name("table")
                .filter(|_| !options.was_written("source_table"));
            name.map(|name| name.text.clone())
        }),
        schema: schema.or_else(|| default(options, "schema", "public")),
        table,
        upsert_identity,
        skips: texts(
            options.names("skip").unwrap_or_default(),
            &mut spans,
            Part::Skip,
        ),
        ..DeclaredResource::default()
    };
    let mut columns = Vec::new();
    for field in &item.fields {
        columns.push(column(field, &mut declared, &mut spans, diagnostics));
    }
    identities(options, &mut declared, &mut spans);
    actions(options, &mut declared, &mut spans);
    policies(options, &mut declared, &mut spans);
    Lowered {
        declared,
        spans,
        columns,
    }
}

fn policies(options: &Options, declared: &mut DeclaredResource, spans: &mut Spans) {
    if let Some(word) = options.name("on_truncate") {
        spans.put(Part::OnTruncate, word.span);
        declared.on_truncate = match word.text.as_str() {
            "halt" => Some(OnTruncate::Halt),
            "mirror" => Some(OnTruncate::Mirror),
            "close" => Some(OnTruncate::Close),
            "append" => Some(OnTruncate::Append),
            _ => None,
        };
    }
    if let Some(word) = options.name("on_schema_change") {
        spans.put(Part::OnSchemaChange, word.span);
        declared.on_schema_change = match word.text.as_str() {
            "halt_destructive" => Some(OnSchemaChange::HaltDestructive),
            "ignore" => Some(OnSchemaChange::Ignore),
            _ => None,
        };
    }
}

fn default(options: &Options, option: &str, value: &str) -> Option<String> {
    (!options.was_written(option)).then(|| value.to_owned())
}

fn texts(names: &[Name], spans: &mut Spans, part: impl Fn(usize) -> Part) -> Vec<String> {
    for (index, name) in names.iter().enumerate() {
        spans.put(part(index), name.span);
    }
    names.iter().map(|name| name.text.clone()).collect()
}

fn column(
    field: &Field,
    declared: &mut DeclaredResource,
    spans: &mut Spans,
    diagnostics: &mut Diagnostics,
) -> EmittedColumn {
    let index = declared.columns.len();
    let name = unraw(&field.name);
    let options = Options::read(Place::Field, field.options.clone(), diagnostics);
    let span_or_field = |option: &str| {
        options
            .name(option)
            .map_or(field.name.span(), |name| name.span)
    };
    spans.put(Part::Field(index), field.name.span());
    spans.put(Part::ColumnSource(index), span_or_field("source"));
    spans.put(Part::ColumnTarget(index), span_or_field("column"));
    spans.put(Part::ColumnType(index), field.kind.span());
    for (option, part) in [
        ("sql_type", Part::ColumnSqlType(index)),
        ("private", Part::ColumnPrivate(index)),
        ("generated", Part::ColumnGenerated(index)),
    ] {
        if let Some(span) = options
            .name(option)
            .map(|name| name.span)
            .or_else(|| options.span(option))
        {
            spans.put(part, span);
        }
    }
    if let Some(span) = options.span("primary_key") {
        spans.put(Part::PrimaryKey(declared.primary_key.len()), span);
        declared.primary_key.push(name.clone());
    }
    let text = |option: &str| options.name(option).map(|name| name.text.clone());
    let generated = options.span("generated");
    if generated.is_some() {
        for about_source in ["source", "lossy"] {
            if let Some(span) = options.span(about_source) {
                let fact = format!("`{name}` is generated and has `{about_source}`");
                diagnostics.report(Rule::GeneratedSource, span, fact);
            }
        }
    }
    declared.columns.push(DeclaredColumn {
        origin: match generated {
            Some(_) => DeclaredOrigin::Destination,
            None => DeclaredOrigin::Source(text("source").unwrap_or_else(|| name.clone())),
        },
        target: text("column").unwrap_or_else(|| name.clone()),
        visibility: match options.span("private") {
            Some(_) => Visibility::Private,
            None => Visibility::Public,
        },
        protection: Protection::Plain,
        sql_type: text("sql_type"),
        field: name,
    });
    EmittedColumn {
        kind: field.kind.clone(),
        lossy: options.span("lossy").is_some(),
        conditional: field.conditional,
    }
}

fn identities(options: &Options, declared: &mut DeclaredResource, spans: &mut Spans) {
    for (option, _, value) in options.all() {
        let ("identity", Value::Block(Some(name), inner)) = (option, value) else {
            continue;
        };
        let index = declared.identities.len();
        spans.put(Part::IdentityName(index), name.span);
        if let Some(span) = inner.span("keys") {
            spans.put(Part::IdentityKeys(index), span);
        }
        let keys = inner
            .names("keys")
            .map(|keys| texts(keys, spans, |position| Part::IdentityKey(index, position)));
        declared.identities.push(DeclaredIdentity {
            name: name.text.clone(),
            keys,
            reach: IdentityReach::Tenant,
            predicate: None,
        });
    }
}

fn actions(options: &Options, declared: &mut DeclaredResource, spans: &mut Spans) {
    let Some(block) = options.block("actions") else {
        return;
    };
    if let Some(span) = options.span("actions") {
        spans.put(Part::Actions, span);
    }
    let mut actions = Vec::new();
    for (kind, span, value) in block.all() {
        let kind = match kind {
            "read" => ActionKind::Read,
            "create" => ActionKind::Create,
            "update" => ActionKind::Update,
            "destroy" => ActionKind::Destroy,
            _ => continue,
        };
        let Value::Block(name, inner) = value else {
            continue;
        };
        let index = actions.len();
        spans.put(Part::Action(index), span);
        spans.put(
            Part::ActionName(index),
            name.as_ref().map_or(span, |name| name.span),
        );
        spans.put(
            Part::ActionAccept(index),
            inner.span("accept").unwrap_or(span),
        );
        let accept = match inner.get("accept") {
            Some((_, Value::AcceptAll)) => DeclaredAccept::All,
            Some((_, Value::AcceptFields(fields))) => {
                DeclaredAccept::Fields(texts(fields, spans, |position| {
                    Part::AcceptField(index, position)
                }))
            }
            // Unreadable: assume the form that causes no further message.
            None if inner.was_written("accept") => match kind {
                ActionKind::Create | ActionKind::Update => DeclaredAccept::All,
                ActionKind::Read | ActionKind::Destroy => DeclaredAccept::Fields(Vec::new()),
            },
            _ => DeclaredAccept::Fields(Vec::new()),
        };
        actions.push(DeclaredAction {
            name: name.as_ref().map(|name| name.text.clone()),
            ..DeclaredAction::new(kind, accept)
        });
    }
    declared.actions = Some(actions);
}
