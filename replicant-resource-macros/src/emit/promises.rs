//! The assertions about types: one free constant for each promise that the declaration needs.
//!
//! Generic constants would be invisible to `cargo check`, so each is over concrete types. Each sees one column or one
//! action only: a type that is no column at all hides no mistake of another field. Such a part is a constant of its
//! own, which the specification refers to, so that it is judged once. The compiler underlines a call from its first
//! token to its last, so those two carry the ends of what the promise is about.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use replicant_checkpoint::contract::rules::{Part, Rule, promises};

use super::{judged, spec};
use crate::declaration::Declaration;
use crate::resource::Lowered;

/// Promises that are trait bounds of the calls a column is made by.
const BOUNDS: [Rule; 2] = [Rule::EncryptedType, Rule::EncryptedMissing];

/// The constants of the parts that promise something, and the assertions about them.
#[derive(Default)]
pub(super) struct Promises {
    columns: BTreeMap<usize, Ident>,
    actions: BTreeMap<usize, Ident>,
    tokens: TokenStream,
}

impl Promises {
    /// Everything the declaration has to promise.
    pub(super) fn of(declaration: &Declaration, lowered: &Lowered) -> Self {
        let demanded: Vec<(Rule, Part)> = promises::demanded(&lowered.declared)
            .into_iter()
            .filter(|(rule, part)| !BOUNDS.contains(rule) && is_certain(lowered, *part))
            .collect();
        let mut promises = Self::default();
        if demanded.is_empty() {
            return promises;
        }
        let types = spec::types(declaration);
        let nothing = TokenStream::new();
        let rest = spec::value(declaration, &lowered.declared, true, &nothing, &nothing);
        promises.tokens = quote!(const __REST: #types::ResourceSpec = #rest;);
        for (rule, part) in demanded {
            promises.demand(declaration, lowered, rule, part);
        }
        promises
    }

    /// The constant of a column, if it promises something.
    pub(super) fn column(&self, index: usize) -> Option<&Ident> {
        self.columns.get(&index)
    }

    /// The constant of an action, if it promises something.
    pub(super) fn action(&self, index: usize) -> Option<&Ident> {
        self.actions.get(&index)
    }

    /// `const _: () = refuse(&ResourceSpec { columns: &[__COLUMN_0], ..__REST }, Rule::KeyNullable, Part::...);`
    fn demand(&mut self, declaration: &Declaration, lowered: &Lowered, rule: Rule, part: Part) {
        let (alone, seen) = match part {
            Part::ColumnType(index) => {
                let constant = self.constant_of_column(declaration, lowered, index);
                (Part::ColumnType(0), quote!(columns: &[#constant]))
            }
            Part::Change(index, entry) => {
                let constant = self.constant_of_action(declaration, lowered, index);
                (Part::Change(0, entry), quote!(actions: &[#constant]))
            }
            Part::Touch(index, entry) => {
                let constant = self.constant_of_action(declaration, lowered, index);
                (Part::Touch(0, entry), quote!(actions: &[#constant]))
            }
            _ => return,
        };
        let (first, last) = ends(declaration, lowered, part);
        let types = spec::types(declaration);
        let private = declaration.library.at(first);
        let judged = judged::arguments(&private, rule, alone, first);
        let arguments = quote!(&#types::ResourceSpec { #seen, ..__REST }, #judged);
        let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
        arguments.set_span(last);
        let arguments = TokenTree::from(arguments);
        let refuse = quote_spanned!(first=> #private::contract::rules::promises::refuse);
        self.tokens
            .extend(quote!(const _: () = #refuse #arguments;));
    }

    fn constant_of_column(
        &mut self,
        declaration: &Declaration,
        lowered: &Lowered,
        index: usize,
    ) -> Ident {
        let constant = format_ident!("__COLUMN_{index}");
        if self.columns.insert(index, constant.clone()).is_none() {
            let types = spec::types(declaration);
            let value = spec::column_at(declaration, lowered, index);
            self.tokens
                .extend(quote!(const #constant: #types::ColumnSpec = #value;));
        }
        constant
    }

    fn constant_of_action(
        &mut self,
        declaration: &Declaration,
        lowered: &Lowered,
        index: usize,
    ) -> Ident {
        let constant = format_ident!("__ACTION_{index}");
        if self.actions.insert(index, constant.clone()).is_none() {
            let types = spec::types(declaration);
            let value = spec::action_at(declaration, lowered, index);
            self.tokens
                .extend(quote!(const #constant: #types::ActionSpec = #value;));
        }
        constant
    }
}

impl ToTokens for Promises {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.tokens.clone());
    }
}

/// A field that may not exist cannot be mentioned; its mistake is reported.
fn is_certain(lowered: &Lowered, part: Part) -> bool {
    match part {
        Part::ColumnType(index) => {
            let column = lowered.columns.get(index);
            column.is_some_and(|column| !column.conditional)
        }
        _ => true,
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
