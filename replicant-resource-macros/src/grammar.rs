//! How options are spelled: `flag`, `name = value`, `name(a, b)`, separated by commas.
//!
//! The tokens are cut at commas first and each piece is read by itself, so one broken option does not hide the
//! mistakes in the others.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Lit, LitStr};

use replicant_checkpoint::contract::rules::Rule;

use crate::diagnostics::Diagnostics;

/// One piece between commas.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) head: Term,
    pub(crate) tail: Tail,
}

/// What follows the head.
#[derive(Clone, Debug)]
pub(crate) enum Tail {
    None,
    Equals(Term),
    List(Vec<Node>, Span),
}

/// An identifier, path or literal.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Path(Vec<PathPart>),
    Literal(Lit),
}

/// A piece of a path.
#[derive(Clone, Debug)]
pub(crate) enum PathPart {
    Ident(Ident),
    Colons(Span),
}

/// A name and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Term {
    /// The term as a name: an identifier without its raw prefix, or a string.
    pub(crate) fn name(&self) -> Option<Name> {
        match self {
            Self::Path(parts) => match parts.as_slice() {
                [PathPart::Ident(ident)] => Some(Name {
                    text: unraw(ident),
                    span: ident.span(),
                }),
                _ => None,
            },
            Self::Literal(Lit::Str(text)) => Some(string(text)),
            Self::Literal(_) => None,
        }
    }

    /// The term as an identifier, the only form an option's own name has.
    pub(crate) fn ident(&self) -> Option<Name> {
        match self {
            Self::Path(_) => self.name(),
            Self::Literal(_) => None,
        }
    }

    /// The term as a string.
    pub(crate) fn string(&self) -> Option<Name> {
        match self {
            Self::Literal(Lit::Str(text)) => Some(string(text)),
            Self::Path(_) | Self::Literal(_) => None,
        }
    }

    /// The term as it was written, a string without its quotes.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::Path(parts) => path_text(parts),
            Self::Literal(Lit::Str(text)) => text.value(),
            Self::Literal(literal) => literal.to_token_stream().to_string(),
        }
    }

    /// The token to underline: a path's last, which is the name a user would change.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Path(parts) => parts
                .last()
                .map_or_else(Span::call_site, |part| match part {
                    PathPart::Ident(ident) => ident.span(),
                    PathPart::Colons(span) => *span,
                }),
            Self::Literal(literal) => literal.span(),
        }
    }
}

/// A path as text.
pub(crate) fn path_text(parts: &[PathPart]) -> String {
    parts
        .iter()
        .map(|part| match part {
            PathPart::Ident(ident) => ident.to_string(),
            PathPart::Colons(_) => "::".to_owned(),
        })
        .collect()
}

/// Reads comma-separated options. What cannot be read is reported and left out.
pub(crate) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut piece: Vec<TokenTree> = Vec::new();
    let mut pieces = Vec::new();
    for token in flattened(tokens) {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => {
                pieces.push((std::mem::take(&mut piece), Some(punct.span())));
            }
            _ => piece.push(token),
        }
    }
    pieces.push((piece, None));
    for (piece, comma) in pieces {
        match (piece.is_empty(), comma) {
            (true, None) => {}
            (true, Some(comma)) => {
                diagnostics.report(
                    Rule::OptionSyntax,
                    comma,
                    "nothing is written before this comma",
                );
            }
            (false, _) => nodes.extend(node(&piece, diagnostics)),
        }
    }
    nodes
}

fn node(piece: &[TokenTree], diagnostics: &mut Diagnostics) -> Option<Node> {
    let (head, rest) = term(piece, diagnostics)?;
    let (tail, rest) = match rest {
        [TokenTree::Punct(equals), rest @ ..] if equals.as_char() == '=' => {
            if rest.is_empty() {
                diagnostics.report(
                    Rule::OptionSyntax,
                    equals.span(),
                    "nothing is written after this `=`",
                );
                return None;
            }
            let (value, rest) = term(rest, diagnostics)?;
            (Tail::Equals(value), rest)
        }
        [TokenTree::Group(group), rest @ ..] if group.delimiter() == Delimiter::Parenthesis => {
            let list = parse(group.stream(), diagnostics);
            (Tail::List(list, group.span()), rest)
        }
        rest => (Tail::None, rest),
    };
    if let Some(extra) = rest.first() {
        diagnostics.report(
            Rule::OptionSyntax,
            extra.span(),
            format!(
                "`{}` is not expected here; is a comma missing?",
                shown(extra)
            ),
        );
        return None;
    }
    Some(Node { head, tail })
}

fn term<'a>(
    piece: &'a [TokenTree],
    diagnostics: &mut Diagnostics,
) -> Option<(Term, &'a [TokenTree])> {
    if let [TokenTree::Literal(literal), rest @ ..] = piece {
        return Some((Term::Literal(Lit::new(literal.clone())), rest));
    }
    let mut parts = Vec::new();
    let mut rest = piece;
    loop {
        if let [TokenTree::Punct(first), TokenTree::Punct(second), tail @ ..] = rest
            && first.as_char() == ':'
            && second.as_char() == ':'
            && !matches!(parts.last(), Some(PathPart::Colons(_)))
        {
            parts.push(PathPart::Colons(first.span()));
            rest = tail;
        } else if let [TokenTree::Ident(ident), tail @ ..] = rest
            && !matches!(parts.last(), Some(PathPart::Ident(_)))
        {
            parts.push(PathPart::Ident(ident.clone()));
            rest = tail;
        } else {
            break;
        }
    }
    if matches!(parts.last(), Some(PathPart::Ident(_))) {
        return Some((Term::Path(parts), rest));
    }
    let wrong = rest.first().or(piece.first())?;
    diagnostics.report(
        Rule::OptionSyntax,
        wrong.span(),
        format!("`{}` is not a name, a path or a literal", shown(wrong)),
    );
    None
}

/// Tokens without the invisible groups that macro fragments arrive in.
fn flattened(tokens: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flat.extend(flattened(group.stream()));
            }
            other => flat.push(other),
        }
    }
    flat
}

fn shown(token: &TokenTree) -> String {
    match token {
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis => "(",
            Delimiter::Brace => "{",
            Delimiter::Bracket => "[",
            Delimiter::None => "",
        }
        .to_owned(),
        other => other.to_string(),
    }
}

fn string(literal: &LitStr) -> Name {
    Name {
        text: literal.value(),
        span: literal.span(),
    }
}

/// An identifier's text without `r#`.
pub(crate) fn unraw(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}
