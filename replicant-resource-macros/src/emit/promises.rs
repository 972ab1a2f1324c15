//! The assertions about types: one free constant for each promise that the declaration needs.
//!
//! Generic constants would be invisible to `cargo check`, so each is over the concrete type. The compiler underlines
//! a call from its first token to its last, so those two carry the ends of what the promise is about.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use replicant_checkpoint::contract::rules::{Part, Rule, promises};

use super::judged;
use crate::declaration::Declaration;
use crate::item::Item;
use crate::resource::Lowered;

pub(super) fn assertions(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    // A field that may not exist is in no specification, so positions would not agree; its mistake is reported.
    if lowered.columns.iter().any(|column| column.conditional) {
        return TokenStream::new();
    }
    promises::demanded(&lowered.declared)
        .into_iter()
        .map(|(rule, part)| assertion(declaration, lowered, rule, part))
        .collect()
}

/// `const _: () = refuse(&<Order as Resource>::SPEC, Rule::KeyNullable, Part::ColumnType(0));`
fn assertion(declaration: &Declaration, lowered: &Lowered, rule: Rule, part: Part) -> TokenStream {
    let Item {
        name, conditions, ..
    } = &declaration.item;
    let (first, last) = ends(declaration, lowered, part);
    let private = declaration.library.at(first);
    let judged = judged::arguments(&private, rule, part, first);
    let mut arguments = Group::new(
        Delimiter::Parenthesis,
        quote!(&<#name as #private::Resource>::SPEC, #judged),
    );
    arguments.set_span(last);
    let arguments = TokenTree::from(arguments);
    let refuse = quote_spanned!(first=> #private::contract::rules::promises::refuse);
    quote! {
        #(#conditions)*
        const _: () = #refuse #arguments;
    }
}

/// Where the compiler underlines, from first to last token: a whole type, or the name of a part.
fn ends(declaration: &Declaration, lowered: &Lowered, part: Part) -> (Span, Span) {
    let kind = match part {
        Part::ColumnType(index) => lowered.columns.get(index).map(|column| &column.kind),
        _ => None,
    };
    let tokens: Vec<TokenTree> = kind
        .map(|kind| kind.to_token_stream().into_iter().collect())
        .unwrap_or_default();
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => (first.span(), last.span()),
        _ => {
            let span = declaration.spans.of(part);
            (span, span)
        }
    }
}
