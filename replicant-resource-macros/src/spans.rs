//! Where each part of a declaration was written, so that a broken rule underlines what to edit.

use std::collections::HashMap;

use proc_macro2::Span;
use replicant_checkpoint::contract::rules::{Part, Rule};

use crate::grammar::Name;
use crate::options::{Options, Value};

/// Where each part of a declaration was written.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    parts: HashMap<Part, Span>,
    /// The name of the option that a part is the value of.
    options: HashMap<Part, Span>,
}

impl Spans {
    /// Remembers where a part is.
    pub(crate) fn put(&mut self, part: Part, span: Span) {
        self.parts.insert(part, span);
    }

    /// Remembers which option a part is the value of, or an entry of.
    pub(crate) fn put_option(&mut self, part: Part, span: Option<Span>) {
        if let Some(span) = span {
            self.options.insert(part, span);
        }
    }

    /// The text of a name or text option, its place remembered.
    pub(crate) fn text(&mut self, part: Part, options: &Options, option: &str) -> Option<String> {
        let (span, Value::Name(name)) = options.get(option)? else {
            return None;
        };
        self.put(part, name.span);
        self.put_option(part, Some(span));
        Some(name.text.clone())
    }

    /// The texts of names, their places remembered.
    pub(crate) fn texts(&mut self, part: impl Fn(usize) -> Part, names: &[Name]) -> Vec<String> {
        for (index, name) in names.iter().enumerate() {
            self.put(part(index), name.span);
        }
        names.iter().map(|name| name.text.clone()).collect()
    }

    /// Where a part is; the item's name for what was left out.
    pub(crate) fn of(&self, part: Part) -> Span {
        let known = self.parts.get(&part);
        let known = known.or_else(|| self.parts.get(&Part::Item));
        known.copied().unwrap_or_else(Span::call_site)
    }

    /// What to edit where a rule is broken at a part: its option, or what the option says.
    pub(crate) fn to_edit(&self, rule: Rule, part: Part) -> Span {
        let option = self.options.get(&part);
        let option = option.filter(|_| rule.is_about_the_option());
        option.copied().unwrap_or_else(|| self.of(part))
    }

    #[cfg(test)]
    pub(crate) fn knows(&self, part: Part) -> bool {
        self.parts.contains_key(&part)
    }
}
