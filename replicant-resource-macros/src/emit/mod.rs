//! What the compiler gets: the item, its implementation, the names of its parts, and the assertions that only the
//! compiler can judge.
//!
//! Generated code names nothing but absolute paths below one versioned module, so it works without a prelude, under
//! any lint level, and does not compile against a library of another version. Every token of a call that may fail
//! carries the span of what caused it, because the compiler underlines from the first token to the last.

mod code;
pub(crate) mod judged;
mod names;
mod promises;
mod spec;

use proc_macro2::{Span, TokenStream};
use quote::quote;

use promises::Promises;

use crate::declaration::Declaration;
use crate::grammar::unraw;
use crate::item::Item;
use crate::resource::Lowered;

pub(crate) use names::identifier;
pub(crate) use spec::period;

/// The item and an empty implementation, for a declaration that could not be read.
pub(crate) fn resource_stub(declaration: &Declaration) -> TokenStream {
    let private = declaration.library.at(Span::call_site());
    let path = path(declaration);
    declaration.implement(
        "Resource",
        &quote! {
            #path
            const SPEC: #private::contract::resource::ResourceSpec =
                #private::contract::resource::ResourceSpec::BROKEN;
            const CODE: #private::Code = #private::Code::NONE;
        },
    )
}

/// The item; and in a block of its own, where no name of ours meets one of the host's, its implementation, its names
/// and its assertions.
pub(crate) fn resource(declaration: &Declaration, lowered: &Lowered, sound: bool) -> TokenStream {
    let Item {
        conditions, tokens, ..
    } = &declaration.item;
    let promises = Promises::of(declaration, lowered);
    let path = path(declaration);
    let spec = spec::constant(declaration, lowered, &promises, sound);
    let code = code::constant(declaration, lowered);
    let changes = code::changes(declaration, lowered);
    let implementation = declaration.implementation("Resource", &quote!(#path #spec #code));
    let names = names::constants(declaration, lowered);
    quote! {
        #tokens
        #(#conditions)*
        const _: () = {
            #changes
            #promises
            #implementation
            #names
        };
    }
}

/// By what hooks and routes refer to it.
fn path(declaration: &Declaration) -> TokenStream {
    let name = unraw(&declaration.item.name);
    quote! {
        const PATH: &'static str = ::core::concat!(::core::module_path!(), "::", #name);
    }
}
