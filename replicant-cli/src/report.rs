//! How is a diagnosis printed? As lines for people, as one object for programs; both are the whole report.

use replicant_sink::doctor::{Report, Verdict};

use crate::arguments::Format;
use crate::exit::Exit;
use crate::screen::Screen;

pub(crate) fn print(report: &Report, format: Format, screen: &mut Screen<'_>) -> Exit {
    match format {
        Format::Json => match serde_json::to_string(report) {
            Ok(text) => screen.line(&text),
            Err(_) => return Exit::NotAsked,
        },
        Format::Text => text(report, screen),
    }
    match report.exit_code {
        0 => Exit::Clean,
        1 => Exit::Failed,
        2 => Exit::Warnings,
        _ => Exit::NotAsked,
    }
}

fn text(report: &Report, screen: &mut Screen<'_>) {
    for check in &report.checks {
        let mark = screen.bold(mark(check.status));
        let name = format!("{}/{}", check.domain, check.name);
        match &check.detail {
            None if check.status == Verdict::Pass => screen.line(&format!("  {mark} {name}")),
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
