//! How the compiler says what is wrong: a text put together during constant evaluation, then a panic with it.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "evaluated by the compiler, where both are compile errors and iterators do not exist"
)]

use super::resource::TableName;
use super::rules::Rule;

/// A message put together by the compiler.
pub(super) struct Message {
    bytes: [u8; Self::BYTES_MAX],
    length: usize,
}

impl Message {
    const BYTES_MAX: usize = 2048;

    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; Self::BYTES_MAX],
            length: 0,
        }
    }

    pub(super) const fn line(self, rule: Rule) -> Self {
        if self.length == 0 {
            self.text("replicant[").text(rule.code()).text("]: ")
        } else {
            self.text("\n  ")
        }
    }

    pub(super) const fn table(self, name: &TableName) -> Self {
        self.text("`")
            .text(name.schema)
            .text(".")
            .text(name.table)
            .text("`")
    }

    pub(super) const fn quote(self, text: &str) -> Self {
        self.text("`").text(text).text("`")
    }

    /// Appends a text, or nothing when it does not fit: a message is cut between texts, never inside a character.
    pub(super) const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if self.length + text.len() > Self::BYTES_MAX {
            return self;
        }
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    #[track_caller]
    pub(super) const fn refuse(self, rule: Rule) {
        if self.length == 0 {
            return;
        }
        let message = self.text("\nhelp: ").text(rule.help());
        let (bytes, _) = message.bytes.split_at(message.length);
        match std::str::from_utf8(bytes) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("{}", rule.help()),
        }
    }
}
