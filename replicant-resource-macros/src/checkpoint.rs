//! `#[replicant_checkpoint(...)]`: where the checkpoint lives and who may read it.

use proc_macro2::{Span, TokenStream};
use quote::quote;

use replicant_checkpoint::contract::declared::DeclaredCheckpoint;
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::{Part, names};

use crate::diagnostics::Diagnostics;
use crate::emit::{Library, optional};
use crate::grammar;
use crate::item::{self, Form, Item, Wanted};
use crate::options::Options;
use crate::resource::Spans;

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
    let options = Options::read(Place::Checkpoint, nodes, diagnostics);
    let item = match item::read(item, Wanted::Unit, diagnostics) {
        Ok(item) => item,
        Err(tokens) => return tokens,
    };
    let (declared, spans) = lower(&options, &item);
    if item.form == Form::Usable {
        options.require(
            Place::Checkpoint,
            &item.name.to_string(),
            item.name.span(),
            diagnostics,
        );
        let violations = names::checkpoint(&declared);
        diagnostics.report_violations(violations, |violation| spans.of(violation.part()));
    }
    emit(&item, &declared, &Library::of(&options))
}

/// Reads options into a declaration.
pub(crate) fn lower(options: &Options, item: &Item) -> (DeclaredCheckpoint, Spans) {
    let mut spans = Spans::default();
    spans.put(Part::Item, item.name.span());
    let schema = options.name("schema");
    let grant = options
        .block("grants")
        .and_then(|grants| grants.name("select"));
    for (name, part) in [(schema, Part::CheckpointSchema), (grant, Part::SelectGrant)] {
        if let Some(name) = name {
            spans.put(part, name.span);
        }
    }
    let declared = DeclaredCheckpoint {
        schema: schema.map(|name| name.text.clone()),
        select_grant: grant.map(|name| name.text.clone()),
    };
    (declared, spans)
}

fn emit(item: &Item, declared: &DeclaredCheckpoint, library: &Library) -> TokenStream {
    let Item {
        name,
        conditions,
        tokens,
        ..
    } = item;
    let (parameters, arguments, bounds) = item.generics.split_for_impl();
    let private = library.at(Span::call_site());
    let schema = declared.schema.clone().unwrap_or_default();
    let select_grant = optional(declared.select_grant.as_ref());
    quote! {
        #tokens
        #(#conditions)*
        #[automatically_derived]
        impl #parameters #private::Checkpoint for #name #arguments #bounds {
            const SPEC: #private::contract::sink::CheckpointSpec = #private::contract::sink::CheckpointSpec {
                schema: #schema,
                select_grant: #select_grant,
            };
        }
    }
}
