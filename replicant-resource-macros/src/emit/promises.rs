//! The assertions about types: one free constant for each promise that a field's type must keep.
//!
//! Generic constants would be invisible to `cargo check`, so each is over the concrete type, and each carries the span
//! of what it is about on every token.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::declaration::Declaration;
use crate::item::Item;
use crate::resource::Lowered;

pub(super) fn assertions(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    let Item {
        name, conditions, ..
    } = &declaration.item;
    let declared = &lowered.declared;
    let identities = declared
        .identities
        .iter()
        .flat_map(|identity| identity.keys.iter().flatten());
    let keys: Vec<&String> = declared.primary_key.iter().chain(identities).collect();
    let emitted = declared
        .columns
        .iter()
        .zip(&lowered.columns)
        .filter(|(_, emitted)| !emitted.conditional);
    emitted
        .enumerate()
        .filter(|(_, (column, _))| keys.contains(&&column.field))
        .map(|(index, (_, emitted))| {
            let span = syn::spanned::Spanned::span(&emitted.kind);
            let private = declaration.library.at(span);
            let mut name = name.clone();
            name.set_span(span);
            quote_spanned! {span=>
                #(#conditions)*
                const _: () = #private::contract::rules::promises::refuse_nullable_key(
                    &<#name as #private::Resource>::SPEC, #index);
            }
        })
        .collect()
}
