//! Where do answers and complaints go, and are they coloured?

use std::io::{IsTerminal, Write};

use replicant_sink::Error;

use crate::exit::Exit;

/// Standard output and standard error, or buffers in tests. A reader that went away is not an error: whoever pipes
/// into `head` has seen enough.
pub(crate) struct Screen<'a> {
    answers: Box<dyn Write + 'a>,
    complaints: Box<dyn Write + 'a>,
    style: Style,
}

/// Are control sequences written?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

/// How a word stands out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

/// The process's own; coloured on a terminal unless `NO_COLOR` is set.
pub(crate) fn standard() -> Screen<'static> {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let style = if wanted && std::io::stdout().is_terminal() {
        Style::Coloured
    } else {
        Style::Plain
    };
    Screen {
        answers: Box::new(std::io::stdout()),
        complaints: Box::new(std::io::stderr()),
        style,
    }
}

impl<'a> Screen<'a> {
    #[cfg(test)]
    pub(crate) fn captured(answers: &'a mut Vec<u8>, complaints: &'a mut Vec<u8>) -> Self {
        Self {
            answers: Box::new(answers),
            complaints: Box::new(complaints),
            style: Style::Plain,
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        let _ = writeln!(self.answers, "{text}");
    }

    pub(crate) fn complain(&mut self, text: &str) {
        let _ = writeln!(self.complaints, "{text}");
    }

    /// Prints an error and says which exit it is.
    pub(crate) fn refuse(&mut self, error: &Error) -> Exit {
        self.complain(&error.to_string());
        Exit::of_error(error)
    }

    /// One object for programs.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Exit {
        match serde_json::to_string(value) {
            Ok(text) => {
                self.line(&text);
                Exit::Clean
            }
            Err(_) => Exit::NotAsked,
        }
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.painted(Ink::Bold, text)
    }

    pub(crate) fn painted(&self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Bold => 1,
            Ink::Dim => 2,
            Ink::Red => 31,
            Ink::Green => 32,
            Ink::Yellow => 33,
        };
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}
