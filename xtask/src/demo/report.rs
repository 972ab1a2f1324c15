//! How did the demo go, for people and for programs?

use replicant_shop::traffic::Done;
use replicant_shop::verify::Verdict;
use serde::Serialize;

use super::lag::Lag;
use crate::run::Failure;

/// The result; the shape is stable, fields are only added.
#[derive(Serialize, Debug)]
pub(super) struct Report {
    transactions: u64,
    changes: u64,
    rows_source: u64,
    rows_mirror: u64,
    missing: u64,
    duplicated: u64,
    different: u64,
    restarts: u32,
    lag_ms_p50: f64,
    lag_ms_p99: f64,
    postgres: String,
    pub(super) ok: bool,
    #[serde(skip)]
    findings: Vec<String>,
}

impl Report {
    pub(super) fn new(
        done: Done,
        verdict: &Verdict,
        restarts: u32,
        lag: Lag,
        postgres: String,
    ) -> Self {
        Self {
            transactions: done.transactions,
            changes: done.changes,
            rows_source: verdict.rows_source,
            rows_mirror: verdict.rows_mirror,
            missing: verdict.missing,
            duplicated: verdict.duplicated,
            different: verdict.different,
            restarts,
            lag_ms_p50: lag.p50,
            lag_ms_p99: lag.p99,
            postgres,
            // Comparing nothing with nothing is no success.
            ok: verdict.is_clean() && verdict.rows_source > 0 && done.transactions > 0,
            findings: verdict.findings.clone(),
        }
    }

    pub(super) fn json(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map_err(|error| Failure::Unanswerable(error.to_string()))
    }

    pub(super) fn print(&self) {
        println!(
            "{} transactions with {} changes; the pipeline was killed {} times",
            self.transactions, self.changes, self.restarts
        );
        println!(
            "lag from commit to commit: p50 {:.1} ms, p99 {:.1} ms, kills included",
            self.lag_ms_p50, self.lag_ms_p99
        );
        println!(
            "{} rows in the shop, {} in the mirror: {} missing, {} duplicated, {} different",
            self.rows_source, self.rows_mirror, self.missing, self.duplicated, self.different
        );
        for finding in &self.findings {
            println!("  {finding}");
        }
        println!(
            "{}",
            if self.ok {
                "the mirror is exact"
            } else {
                "THE MIRROR IS WRONG"
            }
        );
    }
}
