//! What this crate says while it runs: a closed list of events and metrics, with structure and never with values.
//!
//! Events go to `tracing` under the target `replicant_transport`; metrics to the `metrics` facade, labelled with the
//! slot. Both lists only grow.
//!
//! | metric | kind | unit |
//! | --- | --- | --- |
//! | [`SESSIONS`] | counter | sessions opened |
//! | [`RECONNECTS`] | counter, label `reason` | sessions lost and tried again |
//! | [`RECEIVED_BYTES`] | counter | bytes of stream payload |
//! | [`TRANSACTIONS`] | counter | transactions handed to the sink |
//! | [`CHANGES`] | counter | changes handed to the sink |
//! | [`IDLE_ADVANCES`] | counter | acknowledgements without a transaction |
//! | [`LAG_BYTES`] | gauge | bytes of WAL received and not durable |
//! | [`QUEUE_BYTES`] | gauge | bytes received that wait for the sink |

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
            "connected"
        );
    }

    /// The slot does not exist and is being created; the server waits for running transactions first.
    pub(crate) fn creating_slot(&self) {
        info!(slot = %self.slot, "creating the slot");
    }

    /// The slot was created.
    pub(crate) fn slot_created(&self, origin: EndLsn) {
        info!(slot = %self.slot, %origin, "slot created");
    }

    /// Streaming starts.
    pub(crate) fn streaming(&self, start: EndLsn) {
        info!(slot = %self.slot, %start, "streaming");
    }

    /// The session failed and another follows.
    pub(crate) fn retrying(&self, reason: &'static str, attempt: u32, delay: Duration) {
        counter!(RECONNECTS, "slot" => self.slot.to_string(), "reason" => reason).increment(1);
        let delay_ms = delay.as_millis();
        warn!(slot = %self.slot, reason, attempt, delay_ms, "session lost, trying again");
    }

    /// The catalog could not be asked whether the schema changed; it is asked again later.
    pub(crate) fn catalog_unavailable(&self, reason: &'static str) {
        warn!(slot = %self.slot, reason, "the catalog could not be checked");
    }

    /// The pipeline stopped by itself.
    pub(crate) fn halted(&self, reason: &'static str) {
        error!(slot = %self.slot, reason, "halted");
    }

    /// The pipeline stopped because it was asked to.
    pub(crate) fn stopped(&self) {
        info!(slot = %self.slot, "stopped");
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
