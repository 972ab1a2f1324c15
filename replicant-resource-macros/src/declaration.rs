//! What the four attributes have in common: how their tokens are read, and how an implementation is written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use replicant_checkpoint::contract::keys::Place;
use replicant_checkpoint::contract::rules::Part;

use crate::diagnostics::Diagnostics;
use crate::grammar;
use crate::item::{self, Form, Item, Wanted};
use crate::library::Library;
use crate::options::Options;
use crate::spans::Spans;

/// An attribute and what it is on, read as far as it can be.
pub(crate) struct Declaration {
    pub(crate) options: Options,
    pub(crate) item: Item,
    pub(crate) library: Library,
    /// Where its parts are. The item's own name is there from the start.
    pub(crate) spans: Spans,
}

impl Declaration {
    /// Reads an attribute of this place. `Err` gives the tokens back when they are on nothing that has a type.
    pub(crate) fn read(
        place: Place,
        wanted: Wanted,
        options: TokenStream,
        item: TokenStream,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, TokenStream> {
        let nodes = grammar::parse(options, diagnostics);
        let options = Options::read(place, nodes, diagnostics);
        let item = item::read(item, wanted, diagnostics)?;
        let mut spans = Spans::default();
        spans.put(Part::Item, item.name.span());
        if item.form == Form::Usable {
            let name = item.name.to_string();
            options.require(place, &name, item.name.span(), diagnostics);
        }
        Ok(Self {
            library: Library::of(&options),
            options,
            item,
            spans,
        })
    }

    /// The item, and its implementation of one of the library's traits.
    pub(crate) fn implement(&self, of: &str, body: &TokenStream) -> TokenStream {
        let Item {
            conditions, tokens, ..
        } = &self.item;
        let implementation = self.implementation(of, body);
        quote!(#tokens #(#conditions)* #implementation)
    }

    /// The implementation of one of the library's traits, without the conditions of the item.
    pub(crate) fn implementation(&self, of: &str, body: &TokenStream) -> TokenStream {
        let (parameters, arguments, bounds) = self.item.generics.split_for_impl();
        let (name, private) = (&self.item.name, self.library.at(Span::call_site()));
        let of = Ident::new(of, Span::call_site());
        quote! {
            #[automatically_derived]
            impl #parameters #private::#of for #name #arguments #bounds {
                #body
            }
        }
    }
}

/// Runs an expansion and adds what it reported.
pub(crate) fn expand(
    options: TokenStream,
    item: TokenStream,
    expand_into: fn(TokenStream, TokenStream, &mut Diagnostics) -> TokenStream,
) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut tokens = expand_into(options, item, &mut diagnostics);
    tokens.extend(diagnostics.into_tokens());
    tokens
}
