//! Expansion as a function from tokens to tokens: which mistakes are found, and which token each underlines.

mod emitted;
mod parts;
mod spans;

use proc_macro2::{TokenStream, TokenTree};

use crate::diagnostics::{Diagnostic, Diagnostics};

/// Expands `#[name(options)] item`, as a compiler would.
fn expand(source: &str) -> (TokenStream, Vec<Diagnostic>) {
    let tokens: TokenStream = source.parse().unwrap();
    let mut tokens = tokens.into_iter();
    let (Some(_), Some(TokenTree::Group(attribute))) = (tokens.next(), tokens.next()) else {
        panic!("a test case starts with an attribute");
    };
    let mut attribute = attribute.stream().into_iter();
    let name = attribute.next().unwrap().to_string();
    let options = match attribute.next() {
        Some(TokenTree::Group(options)) => options.stream(),
        _ => TokenStream::new(),
    };
    let expand_into = match name.as_str() {
        "replicant" => crate::resource::expand_into,
        "replicant_domain" => crate::domain::expand_into,
        "replicant_checkpoint" => crate::checkpoint::expand_into,
        "replicant_sink" => crate::sink::expand_into,
        other => panic!("{other} is not an attribute"),
    };
    let mut diagnostics = Diagnostics::default();
    let expanded = expand_into(options, tokens.collect(), &mut diagnostics);
    (expanded, diagnostics.take())
}
