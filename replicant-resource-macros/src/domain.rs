//! `#[replicant_domain(resources(...))]`: a list of resources.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::{Part, names};

use crate::diagnostics::Diagnostics;
use crate::emit::Library;
use crate::grammar;
use crate::item::{self, Form, Item, Wanted};
use crate::options::Options;
use crate::path::Path;
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
    let options = Options::read(Place::Domain, nodes, diagnostics);
    let item = match item::read(item, Wanted::Unit, diagnostics) {
        Ok(item) => item,
        Err(tokens) => return tokens,
    };
    let mut spans = Spans::default();
    spans.put(Part::Item, item.name.span());
    let library = Library::of(&options);
    if item.form == Form::Usable {
        options.require(
            Place::Domain,
            &item.name.to_string(),
            item.name.span(),
            diagnostics,
        );
        let paths = texts(options.paths("resources"), &mut spans, Part::DomainResource);
        let violations = names::domain(&paths);
        diagnostics.report_violations(violations, |violation| spans.of(violation.part()));
    }
    emit(&item, &options, &library)
}

fn emit(item: &Item, options: &Options, library: &Library) -> TokenStream {
    let Item {
        name,
        conditions,
        tokens,
        ..
    } = item;
    let (parameters, arguments, bounds) = item.generics.split_for_impl();
    let private = library.at(Span::call_site());
    let resources = once(options.paths("resources")).map(|path| {
        let (resource, private, span) = (path.tokens(), library.at(path.span), path.span);
        quote_spanned!(span=> &<#resource as #private::Resource>::SPEC)
    });
    quote! {
        #tokens
        #(#conditions)*
        #[automatically_derived]
        impl #parameters #private::Domain for #name #arguments #bounds {
            const RESOURCES: &'static [&'static #private::contract::resource::ResourceSpec] = &[#(#resources),*];
        }
    }
}

/// The paths as text, their spans remembered.
pub(crate) fn texts(paths: &[Path], spans: &mut Spans, part: fn(usize) -> Part) -> Vec<String> {
    for (index, path) in paths.iter().enumerate() {
        spans.put(part(index), path.span);
    }
    paths.iter().map(Path::text).collect()
}

/// Each path once: a second one is reported already and would only cause further errors.
pub(crate) fn once(paths: &[Path]) -> impl Iterator<Item = &Path> {
    let mut seen = HashSet::new();
    paths.iter().filter(move |path| seen.insert(path.text()))
}
