//! Where do answers and complaints go, and are they coloured?

use std::io::{IsTerminal, Write};

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

    pub(crate) fn bold(&self, text: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\u{1b}[1m{text}\u{1b}[0m"),
        }
    }
}
