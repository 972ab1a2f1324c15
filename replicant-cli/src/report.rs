//! How is a diagnosis printed? As lines for people, as one object for programs; both are the whole report.

use replicant_sink::doctor::{Report, Verdict};

use crate::arguments::Format;
use crate::exit::Exit;
use crate::screen::{Ink, Screen};

pub(crate) fn print(report: &Report, format: Format, screen: &mut Screen<'_>) -> Exit {
    match format {
        Format::Json => match serde_json::to_string(report) {
            Ok(text) => screen.line(&text),
            Err(_) => return Exit::NotAsked,
        },
        Format::Text => text(report, screen),
    }
    Exit::of_code(report.exit_code)
}

fn text(report: &Report, screen: &mut Screen<'_>) {
    for check in &report.checks {
        let mark = screen.painted(ink(check.status), mark(check.status));
        let name = format!("{}/{}", check.domain, check.name);
        match &check.detail {
            None if check.reason == "ok" => screen.line(&format!("  {mark} {name}")),
            None => screen.line(&format!("  {mark} {name}: {}", check.reason)),
            Some(detail) => screen.line(&format!("  {mark} {name}: {}; {detail}", check.reason)),
        }
    }
    screen.line(&format!(
        "{}: {}, exit code {}",
        report.mode,
        word(report.status),
        report.exit_code
    ));
}

const fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Pass => Ink::Green,
        Verdict::Warn => Ink::Yellow,
        Verdict::Fail => Ink::Red,
        Verdict::Skipped => Ink::Dim,
    }
}

const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "[ok]",
        Verdict::Warn => "[!!]",
        Verdict::Fail => "[XX]",
        Verdict::Skipped => "[--]",
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Warn => "warnings",
        Verdict::Fail => "failed",
        Verdict::Skipped => "skipped",
    }
}
