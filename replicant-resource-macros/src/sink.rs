//! `#[replicant_sink(...)]`: one slot, its domains, what it ignores and its checkpoint.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use replicant_checkpoint::contract::declared::DeclaredSink;
use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::{Part, Rule, names};

use crate::diagnostics::Diagnostics;
use crate::domain::{once, texts};
use crate::emit::Library;
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
    let options = Options::read(Place::Sink, nodes, diagnostics);
    let item = match item::read(item, Wanted::Unit, diagnostics) {
        Ok(item) => item,
        Err(tokens) => return tokens,
    };
    let (declared, mut spans) = lower(&options, &item);
    if item.form == Form::Usable {
        options.require(
            Place::Sink,
            &item.name.to_string(),
            item.name.span(),
            diagnostics,
        );
        let mut violations = names::sink(&declared);
        violations.extend(names::domains(&texts(
            options.paths("domains"),
            &mut spans,
            Part::Domain,
        )));
        diagnostics.report_violations(violations, |violation| spans.of(violation.part()));
    }
    emit(&item, &options, &declared, &spans)
}

/// Reads options into a declaration.
pub(crate) fn lower(options: &Options, item: &Item) -> (DeclaredSink, Spans) {
    let mut spans = Spans::default();
    spans.put(Part::Item, item.name.span());
    let slot = options.name("slot_name");
    if let Some(slot) = slot {
        spans.put(Part::SlotName, slot.span);
    }
    let ignored = options.names("ignored_sources").unwrap_or_default();
    for (index, name) in ignored.iter().enumerate() {
        spans.put(Part::IgnoredSource(index), name.span);
    }
    let declared = DeclaredSink {
        slot_name: slot.map(|name| name.text.clone()),
        ignored_sources: ignored.iter().map(|name| name.text.clone()).collect(),
        ..DeclaredSink::default()
    };
    (declared, spans)
}

fn emit(item: &Item, options: &Options, declared: &DeclaredSink, spans: &Spans) -> TokenStream {
    let Item {
        name,
        conditions,
        tokens,
        ..
    } = item;
    let (parameters, arguments, bounds) = item.generics.split_for_impl();
    let library = Library::of(options);
    let private = library.at(Span::call_site());
    let types = quote!(#private::contract);
    let slot_name = declared.slot_name.clone().unwrap_or_default();
    let domains = once(options.paths("domains")).map(|path| {
        let (domain, private, span) = (path.tokens(), library.at(path.span), path.span);
        quote_spanned!(span=> <#domain as #private::Domain>::RESOURCES)
    });
    let ignored: Vec<(Span, &str, &str)> = declared
        .ignored_sources
        .iter()
        .enumerate()
        .filter_map(|(index, name)| {
            let (schema, table) = name.split_once('.')?;
            Some((spans.of(Part::IgnoredSource(index)), schema, table))
        })
        .collect();
    let ignored_sources = ignored.iter().map(
        |(_, schema, table)| quote!(#types::resource::TableName { schema: #schema, table: #table }),
    );
    let checkpoint = match options.path("checkpoint") {
        Some(path) => {
            let (checkpoint, private, span) = (path.tokens(), library.at(path.span), path.span);
            quote_spanned!(span=> <#checkpoint as #private::Checkpoint>::SPEC)
        }
        None => {
            quote!(#types::sink::CheckpointSpec { schema: "", select_grant: ::core::option::Option::None })
        }
    };
    let rust_name = grammar::unraw(name);
    let relations = match item.form {
        Form::Usable => relations(
            item,
            options,
            &library,
            ignored.iter().map(|(span, ..)| *span),
        ),
        Form::Unusable => TokenStream::new(),
    };
    quote! {
        #tokens
        #(#conditions)*
        #[automatically_derived]
        impl #parameters #private::SinkDeclaration for #name #arguments #bounds {
            const SPEC: #types::sink::SinkSpec = #types::sink::SinkSpec {
                rust_name: #rust_name,
                slot_name: #slot_name,
                domains: &[#(#domains),*],
                ignored_sources: &[#(#ignored_sources),*],
                checkpoint: #checkpoint,
                ..#types::sink::SinkSpec::EMPTY
            };
        }
        #relations
    }
}

/// What only the whole sink can tell: one constant per rule and domain or ignored table, at the token of it.
fn relations(
    item: &Item,
    options: &Options,
    library: &Library,
    ignored: impl Iterator<Item = Span>,
) -> TokenStream {
    let Item {
        name, conditions, ..
    } = item;
    let private = library.at(Span::call_site());
    let of_domains = once(options.paths("domains"))
        .enumerate()
        .flat_map(|(index, path)| {
            [
                Rule::DuplicateResource,
                Rule::DuplicateSource,
                Rule::DuplicateTarget,
                Rule::TargetInCheckpointSchema,
            ]
            .map(|rule| (rule, index, path.span))
        });
    let of_ignored = ignored
        .enumerate()
        .map(|(index, span)| (Rule::IgnoredSourceMapped, index, span));
    let refusals = of_domains.chain(of_ignored).map(|(rule, index, span)| {
        let private = library.at(span);
        let refuse = format_ident!("refuse_{}", rule.code(), span = span);
        quote_spanned! {span=>
            #[allow(long_running_const_eval)]
            const _: () = #private::contract::relations::#refuse(&SINK, &INDEX, #index);
        }
    });
    quote! {
        #(#conditions)*
        const _: () = {
            // A sink without domains has no relations to judge.
            #[allow(dead_code)]
            const SINK: #private::contract::sink::SinkSpec = <#name as #private::SinkDeclaration>::SPEC;
            #[allow(dead_code, long_running_const_eval)]
            const INDEX: #private::contract::relations::Index<{ #private::contract::relations::count(&SINK) }> =
                #private::contract::relations::Index::new(&SINK);
            #(#refusals)*
        };
    }
}
