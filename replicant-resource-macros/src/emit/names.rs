//! How Rust code names what was declared: `Order::COLUMNS.amount` and `Order::ACTIONS.record`.
//!
//! One constant of each, so that they collide with nothing else a host gives its type. A column's token carries its
//! role, which is how setting a protected column becomes a type error.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::declaration::Declaration;
use crate::item::{Field, Item};
use crate::resource::Lowered;

/// The two constants. They exist whatever is wrong with the declaration, so that code which uses them is not a
/// second mistake.
pub(super) fn constants(declaration: &Declaration, lowered: &Lowered) -> TokenStream {
    let Item {
        name, visibility, ..
    } = &declaration.item;
    let private = declaration.library.at(Span::call_site());
    let columns_type = format_ident!("__{}Columns", name, span = Span::call_site());
    let actions_type = format_ident!("__{}Actions", name, span = Span::call_site());
    let fields: Vec<(&Field, &'static str)> = declaration
        .item
        .fields
        .iter()
        .enumerate()
        .filter(|(_, field)| !field.conditional)
        .map(|(index, field)| (field, lowered.column_role(index)))
        .collect();
    let column_types = fields.iter().map(|(field, role)| {
        let (field_visibility, kind) = (&field.visibility, &field.kind);
        let token = here(&field.name);
        let role = Ident::new(role, Span::call_site());
        quote!(#field_visibility #token: #private::ColumnRef<#name, #kind, #private::columns::#role>)
    });
    let column_values = fields.iter().map(|(field, _)| {
        let (token, text) = (here(&field.name), crate::grammar::unraw(&field.name));
        quote!(#token: #private::ColumnRef::new(#text))
    });
    let actions = lowered.called_actions();
    let action_types = actions
        .iter()
        .map(|(token, _)| quote!(#visibility #token: #private::contract::resource::ActionRef));
    let action_values = actions.iter().map(|(token, text)| {
        quote! {
            #token: #private::contract::resource::ActionRef {
                resource: <#name as #private::Resource>::PATH,
                action: #text,
            }
        }
    });
    let columns_doc = format!("The columns of `{name}`, for hooks.");
    let actions_doc = format!("The actions of `{name}`, for hooks and routes.");
    quote! {
            #[doc = #columns_doc]
            #[allow(dead_code, missing_docs, missing_debug_implementations, missing_copy_implementations)]
            #visibility struct #columns_type { #(#column_types),* }

            #[doc = #actions_doc]
            #[allow(dead_code, missing_docs, missing_debug_implementations, missing_copy_implementations)]
            #visibility struct #actions_type { #(#action_types),* }

            #[automatically_derived]
            #[allow(dead_code)]
            impl #name {
                #[doc = #columns_doc]
                #visibility const COLUMNS: #columns_type = #columns_type { #(#column_values),* };
                #[doc = #actions_doc]
                #visibility const ACTIONS: #actions_type = #actions_type { #(#action_values),* };
            }
    }
}

/// The field's name, written by us: lints about the host's spelling are for the host's own field.
fn here(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().located_at(name.span()));
    name
}

/// An action's name as an identifier, raw where it is a keyword; `None` for what no identifier can be.
pub(crate) fn identifier(text: &str) -> Option<Ident> {
    let raw = || syn::parse_str::<Ident>(&format!("r#{text}"));
    syn::parse_str::<Ident>(text).or_else(|_| raw()).ok()
}
