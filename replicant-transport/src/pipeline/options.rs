//! What a pipeline is told: where the source is, what to read from it, and within which bounds.

use std::time::Duration;

use crate::connect::ConnectOptions;
use crate::ident::{Ident, SlotName};
use crate::pipeline::backoff::Retry;
use crate::pipeline::idle::IdlePace;
use crate::source::ExpectedSource;

/// One source, one slot.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// How to reach the server.
    pub connect: ConnectOptions,
    /// The slot; created when nothing was ever acknowledged, never created again.
    pub slot: SlotName,
    /// The publications to read; all of them must exist.
    pub publications: Vec<Ident>,
    /// Which source this must be.
    pub expected: ExpectedSource,
    /// Bounds on memory and time.
    pub limits: Limits,
    /// How reconnecting behaves.
    pub retry: Retry,
}

/// Bounds on memory and time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Received bytes that the sink has not been handed yet; when they are reached the socket is not read any more,
    /// while the server is still answered. One message may exceed it alone. What the sink was handed and has not
    /// made durable is bounded by the sink, whose methods wait.
    pub max_inflight: usize,
    /// A batch of changes is handed over when it holds this many bytes.
    pub batch_bytes: usize,
    /// A batch of changes is handed over when it holds this many changes.
    pub batch_changes: usize,
    /// Longest time between two status updates; a third of the server's `wal_sender_timeout` when that is shorter.
    pub status_interval: Duration,
    /// How often a quiet source may cost the destination a write.
    pub idle: IdlePace,
    /// After how long without a byte the connection counts as dead. `None`: twice the server's `wal_sender_timeout`.
    pub silence: Option<Duration>,
    /// How often the publications' tables are compared with what the session started with.
    pub publication_check: Duration,
    /// How long a stop waits for a sink call that is under way, then for the sink to finish, then for the server to end
    /// the stream.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_inflight: 64 * 1024 * 1024,
            batch_bytes: 256 * 1024,
            batch_changes: 4096,
            status_interval: Duration::from_secs(10),
            idle: IdlePace {
                interval: Duration::from_secs(10),
                bytes: 16 * 1024 * 1024,
            },
            silence: None,
            publication_check: Duration::from_secs(60),
            stop: Duration::from_secs(10),
        }
    }
}

/// What to assume of a server that never drops a silent consumer.
const WAL_SENDER_TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

impl Limits {
    /// Longest time between two status updates to this server.
    pub(crate) fn status_interval(&self, wal_sender_timeout: Option<Duration>) -> Duration {
        match wal_sender_timeout {
            Some(timeout) => self.status_interval.min(timeout / 3),
            None => self.status_interval,
        }
    }

    /// How long this server may be silent. It is busy, not dead, while it decodes a long stretch without anything to
    /// send, so a second silence in a row is given twice the time.
    pub(crate) fn silence(&self, wal_sender_timeout: Option<Duration>, in_a_row: u32) -> Duration {
        let base = self
            .silence
            .unwrap_or_else(|| wal_sender_timeout.unwrap_or(WAL_SENDER_TIMEOUT_DEFAULT) * 2);
        base.saturating_mul(1 << in_a_row.min(6))
    }

    /// How long a slot held by another consumer may stay so: a walsender outlives its client by the timeout, and a client
    /// that cannot deliver any more lets the slot go in its own time.
    pub(crate) fn slot_patience(&self, wal_sender_timeout: Option<Duration>) -> Duration {
        wal_sender_timeout.unwrap_or(WAL_SENDER_TIMEOUT_DEFAULT) * 3 / 2 + Duration::from_secs(20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_hears_from_us_three_times_before_it_gives_up() {
        let limits = Limits::default();
        let interval = |millis| limits.status_interval(Some(Duration::from_millis(millis)));
        assert_eq!(interval(1000), Duration::from_nanos(333_333_333));
        assert_eq!(interval(60_000), Duration::from_secs(10));
        assert_eq!(limits.status_interval(None), Duration::from_secs(10));
    }

    #[test]
    fn silence_is_given_more_time_when_it_repeats() {
        let limits = Limits::default();
        let minute = Some(Duration::from_secs(60));
        assert_eq!(limits.silence(minute, 0), Duration::from_secs(120));
        assert_eq!(limits.silence(minute, 1), Duration::from_secs(240));
        assert_eq!(limits.silence(None, 0), Duration::from_secs(120));
        assert!(limits.silence(minute, u32::MAX) > limits.silence(minute, 5));
    }
}
