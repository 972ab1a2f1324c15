//! Everything this crate reports while it runs: a closed list of metrics and events, never a value.
//!
//! Metrics go to whatever recorder the host installed through the `metrics` facade; events are `tracing` events with
//! the target `replicant`. Names and fields are only ever added.

use std::time::Duration;

use replicant_transport::ident::SlotName;
use replicant_transport::position::CommitLsn;
pub use replicant_transport::telemetry::Metric;

use crate::apply::{Applied, Rung};
use crate::error::Error;
use crate::generation::Notice;

/// Every metric of this crate.
pub const METRICS: &[Metric] = &[
    Metric {
        name: TRANSACTIONS,
        kind: "counter",
        doc: "Source transactions made durable.",
    },
    Metric {
        name: CHANGES,
        kind: "counter",
        doc: "Row changes of those transactions.",
    },
    Metric {
        name: GROUPS,
        kind: "counter",
        doc: "Destination transactions committed.",
    },
    Metric {
        name: GROUP_SECONDS,
        kind: "histogram",
        doc: "Duration of one destination transaction.",
    },
    Metric {
        name: SKIPPED,
        kind: "counter",
        doc: "Redelivered transactions that had taken effect already.",
    },
    Metric {
        name: ABSENT_DELETES,
        kind: "counter",
        doc: "Deletes of rows the destination did not have.",
    },
    Metric {
        name: REPEATED_EVENTS,
        kind: "counter",
        doc: "Events that a log had already and kept as they were; more than none after a reset is an alert.",
    },
    Metric {
        name: RETRIES,
        kind: "counter",
        doc: "Groups applied again after a transient fault.",
    },
    Metric {
        name: LADDER,
        kind: "counter",
        doc: "Flushes that needed another order, by label `rung`.",
    },
    Metric {
        name: LOST_ANSWERS,
        kind: "counter",
        doc: "Commits whose answer was lost and looked up.",
    },
    Metric {
        name: HEARTBEAT_FAILURES,
        kind: "counter",
        doc: "Times the lease could not be renewed any more; after ten seconds the slot is let go.",
    },
];

const TRANSACTIONS: &str = "replicant_transactions_total";
const CHANGES: &str = "replicant_changes_total";
const GROUPS: &str = "replicant_groups_total";
const GROUP_SECONDS: &str = "replicant_group_duration_seconds";
const SKIPPED: &str = "replicant_transactions_skipped_total";
const ABSENT_DELETES: &str = "replicant_absent_deletes_total";
const REPEATED_EVENTS: &str = "replicant_repeated_events_total";
const RETRIES: &str = "replicant_group_retries_total";
const LADDER: &str = "replicant_ladder_total";
const LOST_ANSWERS: &str = "replicant_lost_commit_answers_total";
const HEARTBEAT_FAILURES: &str = "replicant_heartbeat_failures_total";

/// One event: what a log reader may filter on.
pub const EVENTS: &[(&str, &str)] = &[
    (
        "pipeline.admitted",
        "Every check passed; streaming may start.",
    ),
    (
        "pipeline.noticed",
        "Something can part the mirror from its source unseen; once for every session.",
    ),
    ("group.committed", "A destination transaction is durable."),
    (
        "group.retried",
        "A transient fault; the whole group is applied again.",
    ),
    (
        "events.repeated",
        "A log had events of these transactions already: a checkpoint was reset, or something else writes the log.",
    ),
    (
        "commit.lost",
        "The answer to COMMIT was lost; the watermark row decides.",
    ),
    (
        "heartbeat.failed",
        "The lease could not be renewed; after ten seconds the slot is let go, and another process may take over.",
    ),
    ("pipeline.halted", "Delivery stopped; the reason says why."),
];

/// What one committed group held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupFacts {
    pub(crate) transactions: u64,
    pub(crate) skipped: u64,
    pub(crate) changes: u64,
    pub(crate) absent_deletes: u64,
    pub(crate) repeated_events: u64,
}

impl GroupFacts {
    pub(crate) fn new(transactions: usize, skipped: usize, applied: &Applied) -> Self {
        let count = |number| u64::try_from(number).unwrap_or(u64::MAX);
        Self {
            transactions: count(transactions),
            skipped: count(skipped),
            changes: applied.changes(),
            absent_deletes: applied.absent_deletes,
            repeated_events: applied.repeated_events,
        }
    }
}

/// The events of one slot.
#[derive(Clone, Debug)]
pub(crate) struct Telemetry {
    slot: String,
}

impl Telemetry {
    pub(crate) fn new(slot: &SlotName) -> Self {
        Self {
            slot: slot.as_str().to_owned(),
        }
    }

    pub(crate) fn admitted(&self, tables: usize) {
        tracing::info!(target: "replicant", slot = %self.slot, tables, "pipeline.admitted");
    }

    pub(crate) fn noticed(&self, notice: &Notice) {
        tracing::warn!(
            target: "replicant", slot = %self.slot, reason = notice.code(), at = %notice,
            help = notice.finding().help(), "pipeline.noticed"
        );
    }

    pub(crate) fn committed(&self, last: CommitLsn, facts: GroupFacts, took: Duration) {
        metrics::counter!(TRANSACTIONS, "slot" => self.slot.clone()).increment(facts.transactions);
        metrics::counter!(CHANGES, "slot" => self.slot.clone()).increment(facts.changes);
        metrics::counter!(GROUPS, "slot" => self.slot.clone()).increment(1);
        metrics::histogram!(GROUP_SECONDS, "slot" => self.slot.clone()).record(took.as_secs_f64());
        if facts.skipped > 0 {
            metrics::counter!(SKIPPED, "slot" => self.slot.clone()).increment(facts.skipped);
        }
        if facts.absent_deletes > 0 {
            metrics::counter!(ABSENT_DELETES, "slot" => self.slot.clone())
                .increment(facts.absent_deletes);
        }
        if facts.repeated_events > 0 {
            metrics::counter!(REPEATED_EVENTS, "slot" => self.slot.clone())
                .increment(facts.repeated_events);
            tracing::warn!(
                target: "replicant", slot = %self.slot, commit_lsn = %last,
                events = facts.repeated_events, "events.repeated"
            );
        }
        tracing::debug!(
            target: "replicant", slot = %self.slot, commit_lsn = %last,
            transactions = facts.transactions, skipped = facts.skipped, changes = facts.changes,
            duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX), "group.committed"
        );
    }

    pub(crate) fn rung(&self, rung: Rung) {
        if rung != Rung::default() {
            let label = rung.as_str();
            metrics::counter!(LADDER, "slot" => self.slot.clone(), "rung" => label).increment(1);
        }
    }

    pub(crate) fn retried(&self, reason: &'static str, attempt: u32, delay: Duration) {
        metrics::counter!(RETRIES, "slot" => self.slot.clone()).increment(1);
        tracing::warn!(
            target: "replicant", slot = %self.slot, reason, attempt,
            delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), "group.retried"
        );
    }

    pub(crate) fn commit_lost(&self, last: CommitLsn) {
        metrics::counter!(LOST_ANSWERS, "slot" => self.slot.clone()).increment(1);
        tracing::warn!(target: "replicant", slot = %self.slot, commit_lsn = %last, "commit.lost");
    }

    /// Once for every series of failures, not for every beat.
    pub(crate) fn heartbeat_failed(&self, reason: &'static str) {
        metrics::counter!(HEARTBEAT_FAILURES, "slot" => self.slot.clone()).increment(1);
        tracing::warn!(target: "replicant", slot = %self.slot, reason, "heartbeat.failed");
    }

    pub(crate) fn halted(&self, error: &Error) {
        tracing::error!(
            target: "replicant", slot = %self.slot, reason = error.code(),
            class = error.class().as_str(), error = %error, "pipeline.halted"
        );
    }
}
