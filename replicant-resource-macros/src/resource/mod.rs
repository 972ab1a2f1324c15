//! `#[replicant(...)]`: from options and fields to a declaration and the place of each of its parts.

mod actions;
mod columns;
mod identities;
mod shape;
mod tenancy;

use proc_macro2::{Ident, TokenStream};

use replicant_checkpoint::contract::declared::{DeclaredOrigin, DeclaredResource};
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::resource::{OnSchemaChange, OnTruncate};
use replicant_checkpoint::contract::role::{Role, RoleOf};
use replicant_checkpoint::contract::rules::{Part, names};

use crate::declaration::Declaration;
use crate::diagnostics::Diagnostics;
use crate::emit;
use crate::grammar::{Name, unraw};
use crate::item::{Form, Wanted};
use crate::options::Options;
use crate::path::Path;

pub(crate) use actions::EmittedAction;
pub(crate) use columns::EmittedColumn;

/// A declaration as lowered from tokens, with what only generated code needs.
pub(crate) struct Lowered {
    pub(crate) declared: DeclaredResource,
    /// One for each column.
    pub(crate) columns: Vec<EmittedColumn>,
    /// One for each action.
    pub(crate) actions: Vec<EmittedAction>,
    /// `tenant_fn(path = ...)`.
    pub(crate) tenant_fn: Option<Path>,
    /// `snapshot_scopes(path = ...)`.
    pub(crate) scopes: Option<Path>,
}

/// Expands the attribute, leaving the messages to the caller.
pub(crate) fn expand_into(
    options: TokenStream,
    item: TokenStream,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let read = Declaration::read(
        Place::Resource,
        Wanted::NamedFields,
        options,
        item,
        diagnostics,
    );
    let mut declaration = match read {
        Ok(declaration) => declaration,
        Err(tokens) => return tokens,
    };
    if declaration.item.form == Form::Unusable {
        return emit::resource_stub(&declaration);
    }
    let lowered = lower(&mut declaration, diagnostics);
    let violations = names::resource(&lowered.declared);
    diagnostics.report_violations(violations, &declaration.spans);
    emit::resource(&declaration, &lowered, diagnostics.is_empty())
}

/// Reads options and fields into a declaration.
pub(crate) fn lower(declaration: &mut Declaration, diagnostics: &mut Diagnostics) -> Lowered {
    let Declaration {
        options,
        item,
        spans,
        ..
    } = declaration;
    let mut declared = DeclaredResource {
        rust_name: unraw(&item.name),
        table: spans.text(Part::TargetTable, options, "table"),
        schema: spans.text(Part::TargetSchema, options, "schema"),
        source_table: spans.text(Part::SourceTable, options, "source_table"),
        source_schema: spans.text(Part::SourceSchema, options, "source_schema"),
        upsert_identity: spans.text(Part::UpsertIdentity, options, "upsert_identity"),
        skips: spans.texts(Part::Skip, options.names("skip").unwrap_or_default()),
        sensitive: spans.texts(
            Part::Sensitive,
            options.names("sensitive").unwrap_or_default(),
        ),
        on_truncate: options.name("on_truncate").and_then(on_truncate),
        on_schema_change: options.name("on_schema_change").and_then(on_schema_change),
        ..DeclaredResource::default()
    };
    for (option, part) in [
        ("on_truncate", Part::OnTruncate),
        ("on_schema_change", Part::OnSchemaChange),
    ] {
        spans.text(part, options, option);
    }
    spans.put_option(Part::Skip(0), options.span("skip"));
    spans.put_option(Part::Sensitive(0), options.span("sensitive"));
    shape::lower(options, &mut declared, spans);
    let tenant_fn = tenancy::lower(options, &mut declared, spans);
    tables(options, &mut declared);
    let columns = item
        .fields
        .iter()
        .map(|field| columns::lower(field, &mut declared, spans, diagnostics))
        .collect();
    identities::lower(options, &mut declared, spans);
    let actions = actions::lower(options, &mut declared, spans);
    let scopes = options.block("snapshot_scopes");
    Lowered {
        columns,
        actions,
        tenant_fn,
        scopes: scopes.and_then(|block| block.path("path")).cloned(),
        declared,
    }
}

/// Names that were left out. An option that is there but unreadable has no default: its mistake is reported already.
fn tables(options: &Options, declared: &mut DeclaredResource) {
    use replicant_checkpoint::contract::declared::DeclaredShape::Auxiliary;

    let or_public = |written: Option<String>, option: &str| {
        written.or_else(|| (!options.was_written(option)).then(|| "public".to_owned()))
    };
    declared.schema = or_public(declared.schema.take(), "schema");
    if declared.shapes.contains(&Auxiliary) {
        return;
    }
    declared.source_schema = or_public(declared.source_schema.take(), "source_schema");
    if !options.was_written("source_table") {
        declared.source_table.clone_from(&declared.table);
    }
}

fn on_truncate(word: &Name) -> Option<OnTruncate> {
    Some(match word.text.as_str() {
        "halt" => OnTruncate::Halt,
        "mirror" => OnTruncate::Mirror,
        "close" => OnTruncate::Close,
        "append" => OnTruncate::Append,
        _ => return None,
    })
}

fn on_schema_change(word: &Name) -> Option<OnSchemaChange> {
    Some(match word.text.as_str() {
        "halt_destructive" => OnSchemaChange::HaltDestructive,
        "ignore" => OnSchemaChange::Ignore,
        _ => return None,
    })
}

impl Lowered {
    /// What a column is for, as the role of its token. Whether a hook may set it follows from that.
    pub(crate) fn column_role(&self, index: usize) -> &'static str {
        let declared = &self.declared;
        let Some(column) = declared.columns.get(index) else {
            return "Value";
        };
        let field = column.field.as_str();
        let named = |names: &[String]| names.iter().any(|name| name == field);
        let is_key = named(&declared.primary_key)
            || declared.history.business_key.as_deref().is_some_and(named)
            || declared
                .identities
                .iter()
                .any(|identity| identity.keys.as_deref().is_some_and(named));
        if let Some(role) = declared.role_of(field) {
            return role_of(role);
        }
        let tenants = [
            declared.tenant_field(),
            declared.tenancy.attribute.as_deref(),
        ];
        if tenants.contains(&Some(field)) {
            "TenantKey"
        } else if is_key {
            "Key"
        } else {
            match column.origin {
                DeclaredOrigin::Destination => "Generated",
                DeclaredOrigin::Before(_) => "Before",
                DeclaredOrigin::Source(_) | DeclaredOrigin::Stamp | DeclaredOrigin::Action => {
                    "Value"
                }
            }
        }
    }

    /// What each action is called, as an identifier and as text; an action no identifier can name is left out.
    pub(crate) fn called_actions(&self) -> Vec<(Ident, String)> {
        let mut called: Vec<(Ident, String)> = Vec::new();
        for action in self.declared.actions.iter().flatten() {
            let text = action.called();
            if called.iter().all(|(_, one)| one != text)
                && let Some(ident) = emit::identifier(text)
            {
                called.push((ident, text.to_owned()));
            }
        }
        called
    }
}

fn role_of(role: Role) -> &'static str {
    match role.of() {
        RoleOf::History => "Window",
        RoleOf::AppendLog => "Structural",
        RoleOf::Provenance => "Provenance",
    }
}
