//! Paths to other declarations, and how to write them again with another span.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use crate::grammar::{PathPart, Term, path_text};

/// A path, and the token that stands for it in diagnostics.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    parts: Vec<PathPart>,
    pub(crate) span: Span,
}

impl Path {
    /// The term as a path.
    pub(crate) fn read(term: Term) -> Option<Self> {
        let span = term.span();
        match term {
            Term::Path(parts) => Some(Self { parts, span }),
            Term::Literal(_) => None,
        }
    }

    /// The path made of these identifiers, `::` before each.
    pub(crate) fn absolute(names: &[&str]) -> Self {
        let span = Span::call_site();
        let parts = names.iter().flat_map(|name| {
            [
                PathPart::Colons(span),
                PathPart::Ident(Ident::new(name, span)),
            ]
        });
        Self {
            parts: parts.collect(),
            span,
        }
    }

    /// The path as written.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.render(|part| match part {
            PathPart::Ident(ident) => ident.span(),
            PathPart::Colons(span) => *span,
        })
    }

    /// The path with another span on every token, so that an error in generated code underlines what caused it.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        self.render(|_| span)
    }

    /// The path as text.
    pub(crate) fn text(&self) -> String {
        path_text(&self.parts)
    }

    fn render(&self, span_of: impl Fn(&PathPart) -> Span) -> TokenStream {
        self.parts
            .iter()
            .map(|part| {
                let span = span_of(part);
                match part {
                    PathPart::Ident(ident) => {
                        let mut ident = ident.clone();
                        ident.set_span(span);
                        quote_spanned!(span=> #ident)
                    }
                    PathPart::Colons(_) => quote_spanned!(span=> ::),
                }
            })
            .collect()
    }
}
