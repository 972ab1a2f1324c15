//! How generated code names a rule and the part of a declaration it is judged at.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

use replicant_checkpoint::contract::rules::{Part, Rule};

/// `Rule::KeyNullable, Part::ColumnType(0)`, with this span on every token: both are printed as they are written.
pub(crate) fn arguments(private: &TokenStream, rule: Rule, part: Part, span: Span) -> TokenStream {
    let rule = Ident::new(&format!("{rule:?}"), span);
    let part: TokenStream = format!("{part:?}").parse().unwrap_or_default();
    let part = with_span(part, span);
    quote_spanned! {span=>
        #private::contract::rules::Rule::#rule, #private::contract::rules::Part::#part
    }
}

fn with_span(tokens: TokenStream, span: Span) -> TokenStream {
    let spanned = tokens.into_iter().map(|token| {
        let mut token = match token {
            TokenTree::Group(group) => TokenTree::Group(Group::new(
                group.delimiter(),
                with_span(group.stream(), span),
            )),
            other => other,
        };
        token.set_span(span);
        token
    });
    spanned.collect()
}
