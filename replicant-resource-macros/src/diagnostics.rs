//! Where mistakes are collected: all of an item, each at its token, none forgotten.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use replicant_checkpoint::contract::rules::{Rule, Violation};

use crate::spans::Spans;

/// One mistake at one place.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    /// The rule it breaks. The message carries its code; only tests ask for it again.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by tests"))]
    pub(crate) rule: Rule,
    error: syn::Error,
}

#[cfg(test)]
impl Diagnostic {
    pub(crate) fn span(&self) -> Span {
        self.error.span()
    }

    pub(crate) fn message(&self) -> String {
        self.error.to_string()
    }
}

/// The mistakes of one item. Dropping it without asking for them is a bug of this crate, and panics in debug builds.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    found: Vec<Diagnostic>,
    asked: bool,
}

impl Diagnostics {
    /// A mistake at a token, with the rule's own help.
    pub(crate) fn report(&mut self, rule: Rule, span: Span, fact: impl AsRef<str>) {
        self.report_with_help(rule, span, fact, rule.help());
    }

    /// A mistake at a token, with help that shows what to write.
    pub(crate) fn report_with_help(
        &mut self,
        rule: Rule,
        span: Span,
        fact: impl AsRef<str>,
        help: impl AsRef<str>,
    ) {
        let error = syn::Error::new(span, text(rule, fact.as_ref(), help.as_ref()));
        self.found.push(Diagnostic { rule, error });
    }

    /// A mistake at several tokens, such as a path.
    pub(crate) fn report_at(&mut self, rule: Rule, tokens: impl ToTokens, fact: impl AsRef<str>) {
        let error = syn::Error::new_spanned(tokens, text(rule, fact.as_ref(), rule.help()));
        self.found.push(Diagnostic { rule, error });
    }

    /// Broken rules of the contract, where their parts are.
    pub(crate) fn report_violations(&mut self, violations: Vec<Violation>, spans: &Spans) {
        for violation in violations {
            let span = spans.to_edit(violation.rule, violation.part());
            self.report(violation.rule, span, &violation.fact);
        }
    }

    /// Has anything been reported?
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Everything reported, as compiler errors.
    pub(crate) fn into_tokens(mut self) -> TokenStream {
        self.take()
            .into_iter()
            .map(|diagnostic| diagnostic.error.into_compile_error())
            .collect()
    }

    /// Everything reported.
    pub(crate) fn take(&mut self) -> Vec<Diagnostic> {
        self.asked = true;
        std::mem::take(&mut self.found)
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        debug_assert!(
            self.asked || std::thread::panicking(),
            "diagnostics were collected and never emitted"
        );
    }
}

fn text(rule: Rule, fact: &str, help: &str) -> String {
    format!("replicant[{}]: {fact}\nhelp: {help}", rule.code())
}
