//! The assertions about types: one free constant for each promise that the declaration needs.
//!
//! Generic constants would be invisible to `cargo check`, so each is over the concrete type, and each carries the span
//! of what it is about on every token.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use replicant_checkpoint::contract::rules::promises;

use super::judged;
use crate::declaration::Declaration;
use crate::item::Item;
use crate::resource::Lowered;

pub(super) fn assertions(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    let Item {
        name, conditions, ..
    } = &declaration.item;
    // A field that may not exist is in no specification, so positions would not agree; its mistake is reported.
    if lowered.columns.iter().any(|column| column.conditional) {
        return TokenStream::new();
    }
    promises::demanded(&lowered.declared)
        .into_iter()
        .map(|(rule, part)| {
            let span = declaration.spans.of(part);
            let private = declaration.library.at(span);
            let arguments = judged::arguments(&private, rule, part, span);
            let mut name = name.clone();
            name.set_span(span);
            quote_spanned! {span=>
                #(#conditions)*
                const _: () = #private::contract::rules::promises::refuse(
                    &<#name as #private::Resource>::SPEC, #arguments);
            }
        })
        .collect()
}
