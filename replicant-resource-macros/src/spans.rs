//! Where each part of a declaration was written, so that a broken rule underlines what to edit.

use std::collections::HashMap;

use proc_macro2::Span;
use replicant_checkpoint::contract::rules::Part;

use crate::grammar::Name;

/// Where each part of a declaration was written.
#[derive(Debug, Default)]
pub(crate) struct Spans(HashMap<Part, Span>);

impl Spans {
    /// Remembers where a part is.
    pub(crate) fn put(&mut self, part: Part, span: Span) {
        self.0.insert(part, span);
    }

    /// The text of a name, its place remembered.
    pub(crate) fn text(&mut self, part: Part, name: Option<&Name>) -> Option<String> {
        let name = name?;
        self.put(part, name.span);
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
        let known = self.0.get(&part).or_else(|| self.0.get(&Part::Item));
        known.copied().unwrap_or_else(Span::call_site)
    }

    #[cfg(test)]
    pub(crate) fn knows(&self, part: Part) -> bool {
        self.0.contains_key(&part)
    }
}
