//! What this crate says while it runs: a closed list of events and metrics, with structure and never with values.
//!
//! Events go to `tracing` under the target `replicant_transport`; metrics to the `metrics` facade, labelled with the
//! slot. Both lists, [`METRICS`] and [`EVENTS`], only grow.

use std::fmt;
use std::time::Duration;

use metrics::{Counter, Gauge, counter, gauge};
use tracing::{error, info, warn};

use crate::ident::SlotName;
use crate::position::EndLsn;
use crate::source::Session;

/// Sessions opened.
pub const SESSIONS: &str = "replicant_source_sessions_total";
/// Sessions lost and tried again.
pub const RECONNECTS: &str = "replicant_source_reconnects_total";
/// Bytes of stream payload received.
pub const RECEIVED_BYTES: &str = "replicant_source_received_bytes_total";
/// Transactions handed to the sink.
pub const TRANSACTIONS: &str = "replicant_source_transactions_total";
/// Changes handed to the sink.
pub const CHANGES: &str = "replicant_source_changes_total";
/// Acknowledgements without a transaction.
pub const IDLE_ADVANCES: &str = "replicant_source_idle_advances_total";
/// Bytes of WAL received and not durable.
pub const LAG_BYTES: &str = "replicant_source_lag_bytes";
/// Bytes received that wait for the sink.
pub const QUEUE_BYTES: &str = "replicant_source_queue_bytes";

/// One metric: its name carries the base unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Name, as the recorder sees it. Every metric has the label `slot`.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: &'static str,
    /// What it counts.
    pub doc: &'static str,
}

/// Every metric of this crate.
pub const METRICS: &[Metric] = &[
    metric(SESSIONS, "counter", "Sessions opened."),
    metric(
        RECONNECTS,
        "counter",
        "Sessions lost and tried again, by label `reason`.",
    ),
    metric(
        RECEIVED_BYTES,
        "counter",
        "Bytes of stream payload received.",
    ),
    metric(TRANSACTIONS, "counter", "Transactions handed to the sink."),
    metric(CHANGES, "counter", "Changes handed to the sink."),
    metric(
        IDLE_ADVANCES,
        "counter",
        "Acknowledgements without a transaction.",
    ),
    metric(LAG_BYTES, "gauge", "Bytes of WAL received and not durable."),
    metric(
        QUEUE_BYTES,
        "gauge",
        "Bytes received that wait for the sink.",
    ),
];

/// Every event of this crate: its message, and when it is sent.
pub const EVENTS: &[(&str, &str)] = &[
    (
        CONNECTED,
        "The source was identified and its facts were read.",
    ),
    (
        CREATING_SLOT,
        "The slot does not exist; the server waits for running transactions before it does.",
    ),
    (SLOT_CREATED, "The slot was created at the named origin."),
    (STREAMING, "The stream starts at the named position."),
    (
        RETRYING,
        "The session failed; another follows after a delay.",
    ),
    (
        CATALOG_UNAVAILABLE,
        "The catalog could not be asked whether the schema changed; it is asked again later.",
    ),
    (
        HALTED,
        "The pipeline stopped by itself; the reason says why.",
    ),
    (STOPPED, "The pipeline stopped because it was asked to."),
];

const CONNECTED: &str = "connected";
const CREATING_SLOT: &str = "creating the slot";
const SLOT_CREATED: &str = "slot created";
const STREAMING: &str = "streaming";
const RETRYING: &str = "session lost, trying again";
const CATALOG_UNAVAILABLE: &str = "the catalog could not be checked";
const HALTED: &str = "halted";
const STOPPED: &str = "stopped";

const fn metric(name: &'static str, kind: &'static str, doc: &'static str) -> Metric {
    Metric { name, kind, doc }
}

/// One slot's events and metrics.
#[derive(Clone)]
pub(crate) struct Telemetry {
    slot: SlotName,
    sessions: Counter,
    received_bytes: Counter,
    transactions: Counter,
    changes: Counter,
    idle_advances: Counter,
    lag_bytes: Gauge,
    queue_bytes: Gauge,
}

impl Telemetry {
    pub(crate) fn of(slot: &SlotName) -> Self {
        let label = || [("slot", slot.to_string())];
        Self {
            slot: slot.clone(),
            sessions: counter!(SESSIONS, &label()),
            received_bytes: counter!(RECEIVED_BYTES, &label()),
            transactions: counter!(TRANSACTIONS, &label()),
            changes: counter!(CHANGES, &label()),
            idle_advances: counter!(IDLE_ADVANCES, &label()),
            lag_bytes: gauge!(LAG_BYTES, &label()),
            queue_bytes: gauge!(QUEUE_BYTES, &label()),
        }
    }

    /// A connection was identified and its facts were read.
    pub(crate) fn connected(&self, session: &Session) {
        self.sessions.increment(1);
        info!(
            slot = %self.slot,
            source = %session.identity.source(),
            timeline = session.identity.timeline,
            version_num = session.server.version_num,
            tables = session.tables.len(),
            "{CONNECTED}"
        );
    }

    /// The slot does not exist and is being created; the server waits for running transactions first.
    pub(crate) fn creating_slot(&self) {
        info!(slot = %self.slot, "{CREATING_SLOT}");
    }

    /// The slot was created.
    pub(crate) fn slot_created(&self, origin: EndLsn) {
        info!(slot = %self.slot, %origin, "{SLOT_CREATED}");
    }

    /// Streaming starts.
    pub(crate) fn streaming(&self, start: EndLsn) {
        info!(slot = %self.slot, %start, "{STREAMING}");
    }

    /// The session failed and another follows.
    pub(crate) fn retrying(&self, reason: &'static str, attempt: u32, delay: Duration) {
        counter!(RECONNECTS, "slot" => self.slot.to_string(), "reason" => reason).increment(1);
        let delay_ms = delay.as_millis();
        warn!(slot = %self.slot, reason, attempt, delay_ms, "{RETRYING}");
    }

    /// The catalog could not be asked whether the schema changed; it is asked again later.
    pub(crate) fn catalog_unavailable(&self, reason: &'static str) {
        warn!(slot = %self.slot, reason, "{CATALOG_UNAVAILABLE}");
    }

    /// The pipeline stopped by itself.
    pub(crate) fn halted(&self, reason: &'static str) {
        error!(slot = %self.slot, reason, "{HALTED}");
    }

    /// The pipeline stopped because it was asked to.
    pub(crate) fn stopped(&self) {
        info!(slot = %self.slot, "{STOPPED}");
    }

    /// A quiet source was acknowledged.
    pub(crate) fn idle_advanced(&self) {
        self.idle_advances.increment(1);
    }

    /// Frames were taken from the queue and handed on.
    pub(crate) fn delivered(&self, delivered: Delivered) {
        self.received_bytes.increment(delivered.bytes);
        self.transactions.increment(delivered.transactions);
        self.changes.increment(delivered.changes);
        self.lag_bytes.set(gauge_value(delivered.lag_bytes));
        self.queue_bytes.set(gauge_value(delivered.queue_bytes));
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

/// What one delivery amounted to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) bytes: u64,
    pub(crate) transactions: u64,
    pub(crate) changes: u64,
    pub(crate) lag_bytes: u64,
    pub(crate) queue_bytes: u64,
}

/// Gauges are floating point; a byte count above 2^53 may lose its last digits.
#[expect(clippy::cast_precision_loss, reason = "a gauge is approximate")]
fn gauge_value(bytes: u64) -> f64 {
    bytes as f64
}
