//! One field: its column on both sides, and where its value comes from.

use syn::Type;
use syn::spanned::Spanned;

use replicant_checkpoint::contract::declared::{DeclaredColumn, DeclaredOrigin, DeclaredResource};
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::resource::{Protection, Visibility};
use replicant_checkpoint::contract::rules::{Part, Rule};

use crate::diagnostics::Diagnostics;
use crate::grammar::unraw;
use crate::item::Field;
use crate::options::Options;
use crate::spans::Spans;

/// What generated code needs of a field beyond its names.
pub(crate) struct EmittedColumn {
    pub(crate) kind: Type,
    pub(crate) lossy: bool,
    pub(crate) conditional: bool,
}

pub(super) fn lower(
    field: &Field,
    declared: &mut DeclaredResource,
    spans: &mut Spans,
    diagnostics: &mut Diagnostics,
) -> EmittedColumn {
    let index = declared.columns.len();
    let name = unraw(&field.name);
    let options = Options::read(Place::Field, field.options.clone(), diagnostics);
    places(index, field, &options, spans);
    if let Some(span) = options.span("primary_key") {
        spans.put(Part::PrimaryKey(declared.primary_key.len()), span);
        declared.primary_key.push(name.clone());
    }
    let text = |option: &str| options.name(option).map(|name| name.text.clone());
    let encrypted = options.span("encrypted").is_some();
    let target = text("column").unwrap_or_else(|| match encrypted {
        true => format!("encrypted_{name}"),
        false => name.clone(),
    });
    let column = DeclaredColumn {
        origin: origin(&name, &options, declared, diagnostics),
        target,
        protection: match encrypted {
            true => Protection::Sealed,
            false => Protection::Plain,
        },
        visibility: match options.span("private") {
            Some(_) => Visibility::Private,
            None => Visibility::Public,
        },
        sql_type: text("sql_type"),
        field: name,
    };
    if let (true, Some(span)) = (encrypted, options.span("lossy")) {
        let fact = format!("`{}` is sealed and has `lossy`", column.field);
        diagnostics.report(Rule::SealedLossy, span, fact);
    }
    declared.columns.push(column);
    EmittedColumn {
        kind: field.kind.clone(),
        lossy: options.span("lossy").is_some(),
        conditional: field.conditional,
    }
}

/// What was written about the source says where the value comes from; else the declaration's defaults do.
fn origin(
    name: &str,
    options: &Options,
    declared: &DeclaredResource,
    diagnostics: &mut Diagnostics,
) -> DeclaredOrigin {
    let text = |option: &str| options.name(option).map(|name| name.text.clone());
    if options.span("generated").is_some() {
        for about_source in ["source", "before", "lossy"] {
            if let Some(span) = options.span(about_source) {
                let fact = format!("`{name}` is generated and has `{about_source}`");
                diagnostics.report(Rule::GeneratedSource, span, fact);
            }
        }
        return DeclaredOrigin::Destination;
    }
    if let (Some(span), Some(_)) = (options.span("source"), options.span("before")) {
        let fact = format!("`{name}` has `source` and `before`");
        diagnostics.report(Rule::BeforeSource, span, fact);
    }
    match (text("source"), text("before")) {
        (_, Some(before)) => DeclaredOrigin::Before(before),
        (Some(source), None) => DeclaredOrigin::Source(source),
        (None, None) => declared.default_origin(name),
    }
}

fn places(index: usize, field: &Field, options: &Options, spans: &mut Spans) {
    let own = field.name.span();
    spans.put(Part::Field(index), own);
    spans.put(Part::ColumnSource(index), own);
    spans.put(Part::ColumnTarget(index), own);
    spans.put(Part::ColumnType(index), field.kind.span());
    for (option, part) in [
        ("source", Part::ColumnSource(index)),
        ("column", Part::ColumnTarget(index)),
        ("sql_type", Part::ColumnSqlType(index)),
        ("before", Part::ColumnBefore(index)),
    ] {
        spans.text(part, options, option);
    }
    for (flag, part) in [
        ("private", Part::ColumnPrivate(index)),
        ("generated", Part::ColumnGenerated(index)),
        ("encrypted", Part::ColumnEncrypted(index)),
    ] {
        if let Some(span) = options.span(flag) {
            spans.put(part, span);
        }
    }
}
