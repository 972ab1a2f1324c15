//! Diagnosis as data: what was checked, how it came out, and which exit code that is.

use serde::Serialize;

use super::finding::Finding;

/// Reasons whose place names an identity or a position, which a diagnosis does not print; `status` does.
const WITHHELD: &[&str] = &[
    "source_identity_mismatch",
    "source_identity_rebound",
    "source_behind_watermark",
    "source_timeline_changed",
    "destination_behind_slot",
    "publication_missing",
];

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
    /// Which part of the system it concerns: `configuration`, `source`, `destination`, `slot`, `checkpoint`,
    /// `contract` or `runtime`.
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

    /// As it must be, in a way that has a word of its own.
    pub(crate) fn pass_as(name: &'static str, domain: &'static str, finding: Finding) -> Self {
        Self {
            reason: finding.code(),
            ..Self::pass(name, domain)
        }
    }

    /// Someone should look.
    pub(crate) fn finding(name: &'static str, domain: &'static str, finding: Finding) -> Self {
        Self::warn(name, domain, finding.code(), finding.help())
    }

    /// Beyond repair, though no reason of a pipeline.
    pub(crate) fn lost(name: &'static str, domain: &'static str, finding: Finding) -> Self {
        Self {
            status: Verdict::Fail,
            ..Self::finding(name, domain, finding)
        }
    }

    /// The same with a structural note in front of what to do.
    #[must_use]
    pub(crate) fn noting(mut self, note: Option<String>) -> Self {
        self.detail = match (note, self.detail) {
            (Some(note), Some(help)) => Some(format!("{note}; {help}")),
            (note, help) => note.or(help),
        };
        self
    }

    pub(crate) fn fail(name: &'static str, domain: &'static str, error: &crate::Error) -> Self {
        let mut site = error.site();
        site.lsn = None;
        if WITHHELD.contains(&error.code()) {
            site.fact = None;
        }
        let place = site.to_string();
        let place = place.trim_start_matches([' ', ':']);
        let detail = match place {
            "" => error.help().to_owned(),
            place => format!("{place}; {}", error.help()),
        };
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
            (vec![fail("destination_reachable"), fail("d")], 3),
        ] {
            assert_eq!(Report::of("preflight", checks).exit_code, code);
        }
    }

    #[test]
    fn a_diagnosis_names_no_identity_and_no_position() {
        use replicant_transport::error::{Error, Site};
        use replicant_transport::position::Lsn;
        use replicant_transport::reason::Reason as Source;
        let site = Site::none()
            .lsn(Lsn::new(0xABC))
            .fact("expected 1/a, found 2/b");
        let error = crate::Error::from(Error::new(Source::SourceIdentityMismatch, site));
        let detail = Check::fail("a", "source", &error).detail.expect("help");
        assert!(
            !detail.contains("found 2/b") && !detail.contains("ABC"),
            "{detail}"
        );
        let told = crate::Error::new(Reason::TruncateHalt, Site::none().fact("a fact"));
        let detail = Check::fail("a", "source", &told).detail.expect("help");
        assert!(detail.starts_with("a fact; "), "{detail}");
    }
}
