//! How a fact is put together so that the compiler can say it: a text of constants, and a panic with it.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "evaluated by the compiler, where both are compile errors and iterators do not exist"
)]

use super::action::ActionSpec;
use super::period::Period;
use super::resource::TableName;
use super::rules::Rule;

/// What is wrong, or nothing.
#[derive(Clone, Copy)]
pub(super) struct Fact {
    bytes: [u8; Self::BYTES_MAX],
    length: usize,
}

impl Fact {
    const BYTES_MAX: usize = 2048;

    /// Nothing is wrong.
    pub(super) const NONE: Self = Self {
        bytes: [0; Self::BYTES_MAX],
        length: 0,
    };

    pub(super) const fn is_none(&self) -> bool {
        self.length == 0
    }

    /// Begins one more fact of the same rule.
    pub(super) const fn line(self) -> Self {
        if self.is_none() {
            self
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

    /// `Order::create`, in backticks.
    pub(super) const fn action(self, resource: &str, action: &str) -> Self {
        self.text("`")
            .text(resource)
            .text("::")
            .text(action)
            .text("`")
    }

    /// A period in the largest unit that divides it.
    pub(super) const fn period(self, period: Period) -> Self {
        let seconds = period.seconds();
        if seconds.is_multiple_of(24 * 60 * 60) {
            self.number(seconds / (24 * 60 * 60)).text("d")
        } else if seconds.is_multiple_of(60 * 60) {
            self.number(seconds / (60 * 60)).text("h")
        } else if seconds.is_multiple_of(60) {
            self.number(seconds / 60).text("m")
        } else {
            self.number(seconds).text("s")
        }
    }

    const fn number(self, number: u64) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let fact = if number >= 10 {
            self.number(number / 10)
        } else {
            self
        };
        fact.text(DIGITS[(number % 10) as usize])
    }

    /// Appends a text, or nothing when it does not fit: a fact is cut between texts, never inside a character.
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

    pub(super) const fn as_str(&self) -> &str {
        let (bytes, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    /// `a`, `b`: what actions there are.
    pub(super) const fn actions(self, actions: &[ActionSpec]) -> Self {
        if actions.is_empty() {
            return self.text("it has none");
        }
        let mut fact = self.text("it has ");
        let mut at = 0;
        while at < actions.len() {
            if at > 0 {
                fact = fact.text(", ");
            }
            fact = fact.quote(actions[at].called());
            at += 1;
        }
        fact
    }

    /// Stops the compiler if anything is wrong.
    #[track_caller]
    pub(super) const fn refuse(self, rule: Rule) {
        if self.is_none() {
            return;
        }
        let message = Self::NONE
            .text("replicant[")
            .text(rule.code())
            .text("]: ")
            .text(self.as_str())
            .text("\nhelp: ")
            .text(rule.help());
        panic!("{}", message.as_str());
    }
}
