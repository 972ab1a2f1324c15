//! `#[replicant_domain(resources(...))]`: a list of resources.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::{Part, names};

use crate::declaration::Declaration;
use crate::diagnostics::Diagnostics;
use crate::item::{Form, Item, Wanted};
use crate::path::Path;
use crate::spans::Spans;

/// Expands the attribute, leaving the messages to the caller.
pub(crate) fn expand_into(
    options: TokenStream,
    item: TokenStream,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    let read = Declaration::read(Place::Domain, Wanted::Unit, options, item, diagnostics);
    let mut declaration = match read {
        Ok(declaration) => declaration,
        Err(tokens) => return tokens,
    };
    let paths = declaration.options.paths("resources");
    if declaration.item.form == Form::Usable {
        let texts = texts(paths, &mut declaration.spans, Part::DomainResource);
        diagnostics.report_violations(names::domain(&texts), &declaration.spans);
    }
    let private = declaration.library.at(Span::call_site());
    let Item {
        conditions, tokens, ..
    } = &declaration.item;
    let members = once(paths).map(|path| {
        let (resource, span) = (path.tokens(), path.span);
        let private = declaration.library.at(span);
        quote_spanned!(span=> #private::member::<#resource>())
    });
    let count = once(paths).count();
    let types = quote!(#private::contract::resource);
    let implementation = declaration.implementation(
        "Domain",
        &quote! {
            const RESOURCES: &'static [&'static #types::ResourceSpec] =
                &#private::specs(&__MEMBERS, &#types::ResourceSpec::BROKEN);
            const CODE: &'static [&'static #private::Code] = &#private::codes(&__MEMBERS, &#private::Code::NONE);
        },
    );
    quote! {
        #tokens
        #(#conditions)*
        const _: () = {
            const __MEMBERS: [#private::Member; #count] = [#(#members),*];
            #implementation
        };
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
