//! How does anybody outside of this process learn that the pipeline lives, and how it ended?
//!
//! A task of its own renews the lease on a connection of its own, so that neither a long delivery nor a source that
//! cannot be reached looks like a dead pipeline. It locks the lease row and nothing else. Its failures are reported
//! and change nothing: what keeps an old owner from writing is the epoch, not the lease.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use replicant_checkpoint::store::{Bound, CommitWarnings, Store, Tombstone};
use replicant_transport::connect::ConnectOptions;
use replicant_transport::pipeline::{Phase, Status};
use replicant_transport::position::Lsn;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::destination::Destination;
use super::progress::Progress;
use crate::error::Error;
use crate::reason::Reason;
use crate::telemetry::Telemetry;

/// How often the lease is renewed. It lives for 10 s, so two beats may fail.
const BEAT: Duration = Duration::from_secs(3);
/// A beat that takes longer is given up and its connection with it.
const BEAT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a pipeline that ends waits for its last word to arrive.
const LAST_WORD_PATIENCE: Duration = Duration::from_secs(5);

/// What the task watches, and where it writes.
pub(crate) struct Heartbeat {
    pub(crate) store: Store,
    /// What the last bind proved; nothing is written before the first.
    pub(crate) bound: watch::Receiver<Option<Bound>>,
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) progress: watch::Receiver<Progress>,
    pub(crate) telemetry: Telemetry,
}

/// How a pipeline ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LastWord {
    /// As it was asked to: the lease is given back.
    Stopped,
    /// For a reason, which stays until the next bind.
    Halted(Tombstone),
}

impl LastWord {
    pub(crate) fn of(outcome: &Result<(), Error>) -> Self {
        match outcome {
            Ok(()) => Self::Stopped,
            Err(error) => Self::Halted(Tombstone {
                cause: error.code(),
                class: error.class(),
            }),
        }
    }
}

/// The running task. Dropped without a last word it stops at once, and the lease expires by itself.
#[derive(Debug)]
pub(crate) struct Beating {
    end: Option<oneshot::Sender<LastWord>>,
    task: JoinHandle<()>,
}

impl Beating {
    /// Writes the last word and ends the task, in bounded time.
    pub(crate) async fn end(mut self, word: LastWord) {
        let Some(end) = self.end.take() else { return };
        if end.send(word).is_ok() {
            // It ends by itself; if it panicked the lease expires.
            let _ = (&mut self.task).await;
        }
    }
}

impl Drop for Beating {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Heartbeat {
    /// Starts the task; it connects after the first bind.
    pub(crate) fn start(self, destination: &ConnectOptions) -> Beating {
        // A beat that is lost in a crash was stale anyway, so it waits for no standby.
        let options = destination
            .clone()
            .with_setting("synchronous_commit", "local");
        let (end, word) = oneshot::channel();
        let task =
            tokio::spawn(self.run(Destination::new(options, CommitWarnings::default()), word));
        Beating {
            end: Some(end),
            task,
        }
    }

    async fn run(mut self, mut destination: Destination, word: oneshot::Receiver<LastWord>) {
        let word = tokio::select! {
            word = word => word,
            never = self.beats(&mut destination) => match never {},
        };
        if let Ok(word) = word {
            let last = self.last_word(&mut destination, word);
            match timeout(LAST_WORD_PATIENCE, last).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.telemetry.heartbeat_failed(error.code()),
                Err(_) => self
                    .telemetry
                    .heartbeat_failed(Reason::DestinationUnreachable.code()),
            }
        }
    }

    async fn beats(&mut self, destination: &mut Destination) -> Infallible {
        let mut ticks = interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut failing = false;
        loop {
            ticks.tick().await;
            let beat = timeout(BEAT_PATIENCE, self.beat(destination)).await;
            let failed = match beat {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.code()),
                Err(_) => Some(Reason::DestinationUnreachable.code()),
            };
            if let Some(code) = failed {
                destination.discard();
                if !failing {
                    self.telemetry.heartbeat_failed(code);
                }
            }
            failing = failed.is_some();
        }
    }

    /// Renews the lease of the last bind, if there is one.
    async fn beat(&mut self, destination: &mut Destination) -> Result<(), Error> {
        let Some(bound) = self.bound.borrow_and_update().clone() else {
            return Ok(());
        };
        let said = self.said(&bound).to_string();
        let session = destination.session().await?;
        match self.store.heartbeat(session.client(), &bound, &said).await {
            // A bind of our own moved the epoch meanwhile; the next beat carries it.
            Err(_) if self.bound.has_changed().unwrap_or(false) => Ok(()),
            outcome => outcome.map_err(Error::from),
        }
    }

    async fn last_word(
        &mut self,
        destination: &mut Destination,
        word: LastWord,
    ) -> Result<(), Error> {
        let Some(bound) = self.bound.borrow().clone() else {
            return Ok(());
        };
        let said = self.said(&bound).to_string();
        let client = destination.session().await?.client();
        let outcome = match self.store.heartbeat(client, &bound, &said).await {
            Ok(()) => match word {
                LastWord::Stopped => self.store.release(client, &bound).await,
                LastWord::Halted(tombstone) => {
                    self.store.tombstone(client, &bound, tombstone).await
                }
            },
            failed => failed,
        };
        match outcome {
            // Somebody else owns the slot; the story is theirs now.
            Err(error) if error.reason() == replicant_checkpoint::Reason::LeaseLost => Ok(()),
            outcome => outcome.map_err(Error::from),
        }
    }

    fn said(&self, bound: &Bound) -> Said {
        let progress = *self.progress.borrow();
        let status = *self.status.borrow();
        Said {
            phase: status.phase,
            watermark: progress
                .commit_lsn
                .map(|at| at.lsn())
                .or_else(|| bound.watermark().map(|at| at.lsn())),
            progress,
            sessions: status.sessions,
            lag_bytes: status.lag_bytes(),
        }
    }
}

/// What a beat says, as one small JSON object of words, numbers and positions. Keys are only ever added.
#[derive(Clone, Copy, Debug)]
struct Said {
    phase: Phase,
    watermark: Option<Lsn>,
    progress: Progress,
    sessions: u64,
    lag_bytes: u64,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Words of ours and positions need no escaping.
        let quoted =
            |f: &mut fmt::Formatter<'_>, key: &str, value: Option<&dyn fmt::Display>| match value {
                Some(value) => write!(f, "\"{key}\":\"{value}\","),
                None => write!(f, "\"{key}\":null,"),
            };
        let reason = self.phase.reason();
        f.write_str("{")?;
        quoted(f, "phase", Some(&self.phase.as_str()))?;
        quoted(f, "reason", reason.as_ref().map(|code| code as _))?;
        quoted(f, "watermark", self.watermark.as_ref().map(|at| at as _))?;
        write!(
            f,
            "\"lag_bytes\":{},\"transactions\":{},\"changes\":{},\"groups\":{},\"sessions\":{}}}",
            self.lag_bytes,
            self.progress.transactions,
            self.progress.changes,
            self.progress.groups,
            self.sessions
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_says_words_numbers_and_positions() {
        let said = Said {
            phase: Phase::Retrying {
                reason: "source_unreachable",
                attempt: 3,
                delay: BEAT,
            },
            watermark: Some(Lsn::new(0x16B_3748)),
            progress: Progress {
                transactions: 2,
                changes: 5,
                groups: 1,
                ..Progress::default()
            },
            sessions: 4,
            lag_bytes: 80,
        };
        assert_eq!(
            said.to_string(),
            r#"{"phase":"retrying","reason":"source_unreachable","watermark":"0/16B3748","lag_bytes":80,"transactions":2,"changes":5,"groups":1,"sessions":4}"#
        );
        let new = Said {
            phase: Phase::Connecting,
            watermark: None,
            ..said
        };
        assert!(
            new.to_string()
                .starts_with(r#"{"phase":"connecting","reason":null,"watermark":null,"#)
        );
    }
}
