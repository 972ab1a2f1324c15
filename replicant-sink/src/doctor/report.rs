//! Diagnosis as data: what was checked, how it came out, and which exit code that is.

use serde::Serialize;

/// How one check came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it must be.
    Pass,
    /// It works, and someone should look.
    Warn,
    /// It would halt.
    Fail,
    /// It could not be judged because something before it failed. Not a pass.
    Skipped,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// Which part of the system it concerns: `configuration`, `source`, `slot`, `destination` or `checkpoint`.
    pub domain: &'static str,
    /// How it came out.
    pub status: Verdict,
    /// `ok`, or the code of the reason.
    pub reason: &'static str,
    /// Structural names and what to do, from the declaration and the catalogs; never a value.
    pub detail: Option<String>,
}

impl Check {
    pub(crate) fn pass(name: &'static str, domain: &'static str) -> Self {
        Self {
            name,
            domain,
            status: Verdict::Pass,
            reason: "ok",
            detail: None,
        }
    }

    pub(crate) fn skipped(name: &'static str, domain: &'static str, why: &'static str) -> Self {
        Self {
            name,
            domain,
            status: Verdict::Skipped,
            reason: why,
            detail: None,
        }
    }

    pub(crate) fn warn(
        name: &'static str,
        domain: &'static str,
        reason: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            name,
            domain,
            status: Verdict::Warn,
            reason,
            detail: Some(detail.into()),
        }
    }

    pub(crate) fn fail(name: &'static str, domain: &'static str, error: &crate::Error) -> Self {
        let detail = format!("{}; {}", error.site(), error.help())
            .trim()
            .to_owned();
        Self {
            name,
            domain,
            status: Verdict::Fail,
            reason: error.code(),
            detail: Some(detail),
        }
    }
}

/// Everything that was checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// `preflight` or `doctor`.
    pub mode: &'static str,
    /// The worst verdict; `skipped` does not count.
    pub status: Verdict,
    /// 0 clean, 1 a failed check, 2 warnings only, 3 could not be asked.
    pub exit_code: u8,
    /// The checks, in the order they depend on each other.
    pub checks: Vec<Check>,
}

impl Report {
    pub(crate) fn of(mode: &'static str, checks: Vec<Check>) -> Self {
        let any = |verdict| checks.iter().any(|check| check.status == verdict);
        let unreachable = checks.iter().any(|check| {
            check.status == Verdict::Fail
                && matches!(
                    check.name,
                    "source_reachable" | "destination_reachable" | "configuration"
                )
        });
        let (status, exit_code) = match (any(Verdict::Fail), any(Verdict::Warn)) {
            (true, _) if unreachable => (Verdict::Fail, 3),
            (true, _) => (Verdict::Fail, 1),
            (false, true) => (Verdict::Warn, 2),
            (false, false) => (Verdict::Pass, 0),
        };
        Self {
            mode,
            status,
            exit_code,
            checks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn the_exit_code_is_the_worst_verdict() {
        let pass = || Check::pass("a", "source");
        let skipped = || Check::skipped("b", "source", "source_unreachable");
        let warn = || Check::warn("c", "slot", "slot_absent", "");
        let fail = |name| Check::fail(name, "source", &Reason::TruncateHalt.into());
        for (checks, code) in [
            (vec![], 0),
            (vec![pass(), skipped()], 0),
            (vec![pass(), warn()], 2),
            (vec![warn(), fail("d")], 1),
            (vec![fail("source_reachable"), skipped()], 3),
        ] {
            assert_eq!(Report::of("preflight", checks).exit_code, code);
        }
    }
}
