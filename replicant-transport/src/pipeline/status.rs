//! What a pipeline tells about itself while it runs, and why it stopped.

use std::fmt;
use std::time::Duration;

use tokio::sync::watch;

use crate::error::Error;
use crate::position::{EndLsn, WalEnd};
use crate::reason::Class;
use crate::sink::SinkError;

/// Where a pipeline is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// A connection is being opened and asked.
    Connecting,
    /// The server waits for running transactions before the slot exists.
    CreatingSlot,
    /// Older transactions are being read.
    CatchingUp,
    /// Everything the server had was read.
    Streaming,
    /// The session failed and another attempt follows.
    Retrying {
        /// Code of the reason.
        reason: &'static str,
        /// Which attempt comes next, from 1.
        attempt: u32,
        /// Delay before it.
        delay: Duration,
    },
    /// A stop was requested; what was committed is being finished.
    Stopping,
    /// Nothing runs any more.
    Stopped {
        /// Code of the reason; `None` when a stop was requested.
        reason: Option<&'static str>,
    },
}

impl Phase {
    /// Stable name.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::CreatingSlot => "creating_slot",
            Self::CatchingUp => "catching_up",
            Self::Streaming => "streaming",
            Self::Retrying { .. } => "retrying",
            Self::Stopping => "stopping",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Code of the reason for it, when it has one.
    pub const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Retrying { reason, .. } => Some(reason),
            Self::Stopped { reason } => *reason,
            _ => None,
        }
    }
}

/// A picture of the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Where it is in its life.
    pub phase: Phase,
    /// How far the server has sent.
    pub received: Option<WalEnd>,
    /// END of the last transaction or idle point handed to the sink.
    pub delivered: Option<EndLsn>,
    /// What the server was told is durable.
    pub durable: Option<EndLsn>,
    /// Transactions handed over since the pipeline started.
    pub transactions: u64,
    /// Changes handed over since the pipeline started.
    pub changes: u64,
    /// Sessions opened since the pipeline started.
    pub sessions: u64,
}

impl Status {
    /// A pipeline that has not connected yet; the initial value of the channel.
    pub const fn new() -> Self {
        Self {
            phase: Phase::Connecting,
            received: None,
            delivered: None,
            durable: None,
            transactions: 0,
            changes: 0,
            sessions: 0,
        }
    }

    /// Bytes of WAL received and not durable yet.
    pub fn lag_bytes(&self) -> u64 {
        match (self.received, self.durable) {
            (Some(received), Some(durable)) => {
                let (received, durable) = (received.lsn().value(), durable.lsn().value());
                received.saturating_sub(durable)
            }
            _ => 0,
        }
    }
}

impl Default for Status {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the status is written.
#[derive(Debug)]
pub(crate) struct Board(watch::Sender<Status>);

impl Board {
    pub(crate) fn new(status: watch::Sender<Status>) -> Self {
        Self(status)
    }

    pub(crate) fn phase(&self, phase: Phase) {
        self.0.send_if_modified(|status| {
            let changed = status.phase != phase;
            status.phase = phase;
            changed
        });
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Status)) {
        self.0.send_modify(change);
    }
}

/// Why a pipeline stopped although nobody asked it to.
#[derive(Clone, Debug)]
pub enum Stopped<E> {
    /// The source or the stream is at fault.
    Source(Error),
    /// The sink is.
    Sink(E),
}

impl<E: SinkError> Stopped<E> {
    /// Stable code of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Source(error) => error.reason.code(),
            Self::Sink(error) => error.code(),
        }
    }

    /// Retry, stop, or ask a person.
    pub fn class(&self) -> Class {
        match self {
            Self::Source(error) => error.reason.class(),
            Self::Sink(error) => error.class(),
        }
    }
}

impl<E> From<Error> for Stopped<E> {
    fn from(error: Error) -> Self {
        Self::Source(error)
    }
}

impl<E: SinkError> fmt::Display for Stopped<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => fmt::Display::fmt(error, f),
            Self::Sink(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl<E: SinkError> std::error::Error for Stopped<E> {}
