//! How does anybody outside of this process learn that the pipeline lives, and when does it have to let go?
//!
//! A task of its own renews the lease on a connection of its own, so that neither a long delivery nor a source that
//! cannot be reached looks like a dead pipeline. It locks the lease row and nothing else. What keeps an old owner from
//! writing is the epoch, not the lease; but an owner that holds the slot keeps the next one from reading. So when the
//! lease could not be renewed for as long as it lives, the session on the source is ended and tried again, and when it
//! is another owner's, the pipeline halts.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use replicant_checkpoint::store::{Bound, LeaseLock, Store, Tombstone};
use replicant_transport::pipeline::{Phase, Status};
use replicant_transport::position::Lsn;
use replicant_transport::sink::Feedback;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::ownership::{LEASE, Ownership};
use super::progress::Progress;
use crate::error::Error;
use crate::reason::Reason;
use crate::telemetry::Telemetry;

/// How often the lease is renewed. It lives for 10 s, so two beats may fail.
const BEAT: Duration = Duration::from_secs(3);
/// A beat that takes longer is given up and its connection with it.
const BEAT_PATIENCE: Duration = Duration::from_secs(5);
/// How long a pipeline that ends waits for its last word to arrive.
const LAST_WORD_PATIENCE: Duration = Duration::from_secs(5);

/// What the last bind proved, and how to end the session it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Lead {
    pub(crate) bound: Bound,
    /// When the bind that renewed the lease was begun.
    pub(crate) renewed: Instant,
    pub(crate) feedback: Feedback<Error>,
    /// Codes of what can part the mirror from its source unseen.
    pub(crate) notices: BTreeSet<&'static str>,
}

/// What the task watches, and where it writes.
pub(crate) struct Heartbeat {
    pub(crate) ownership: Ownership,
    /// Nothing is renewed before the first.
    pub(crate) lead: watch::Receiver<Option<Lead>>,
    /// Who has the lock, for the next bind.
    pub(crate) lock: watch::Sender<LeaseLock>,
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
    /// Starts the task.
    pub(crate) fn start(self) -> Beating {
        let (end, word) = oneshot::channel();
        let task = tokio::spawn(self.run(word));
        Beating {
            end: Some(end),
            task,
        }
    }

    async fn run(mut self, word: oneshot::Receiver<LastWord>) {
        let word = tokio::select! {
            word = word => word,
            never = self.beats() => match never {},
        };
        if let Ok(word) = word {
            let last = self.last_word(word);
            match timeout(LAST_WORD_PATIENCE, last).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.telemetry.heartbeat_failed(error.code()),
                Err(_) => self
                    .telemetry
                    .heartbeat_failed(Reason::DestinationUnreachable.code()),
            }
        }
    }

    async fn beats(&mut self) -> Infallible {
        let mut failing = false;
        let mut renewed: Option<Instant> = None;
        loop {
            let began = Instant::now();
            if let Some(lead) = &*self.lead.borrow() {
                renewed = renewed.max(Some(lead.renewed));
            }
            let ends = renewed.map(|at| at + LEASE);
            let left = ends.map(|at| at - began).filter(|left| !left.is_zero());
            let patience = left.map_or(BEAT_PATIENCE, |left| BEAT_PATIENCE.min(left));
            let failed = match timeout(patience, self.beat()).await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(_) => Some(Reason::DestinationUnreachable.into()),
            };
            let mut next = began + BEAT;
            match failed {
                None => {
                    failing = false;
                    renewed = renewed.map(|_| began);
                }
                Some(error) => {
                    self.ownership.destination.discard();
                    self.lock.send_replace(LeaseLock::Free);
                    if !failing {
                        self.telemetry.heartbeat_failed(error.code());
                    }
                    failing = true;
                    if error.code() == Reason::LeaseLost.code() {
                        self.let_go(error);
                    } else if ends.is_some_and(|ends| Instant::now() >= ends) {
                        // Said again with every beat, because a bind may have begun another session meanwhile.
                        self.let_go(Reason::LeaseNotRenewed.into());
                    } else if let Some(ends) = ends {
                        next = next.min(ends);
                    }
                }
            }
            sleep_until(next).await;
        }
    }

    /// Ends the session on the source, which frees the slot: for good, or until the destination can be reached again.
    fn let_go(&self, error: Error) {
        if let Some(lead) = &*self.lead.borrow() {
            lead.feedback.stopped(error);
        }
    }

    /// Takes the lock if it was lost, and renews the lease of the last bind, if there is one.
    async fn beat(&mut self) -> Result<(), Error> {
        let lock = self.ownership.lock().await?;
        self.lock.send_replace(lock);
        let lead = self.lead.borrow_and_update().clone();
        let Some(lead) = lead else {
            return Ok(());
        };
        let said = self.said(&lead).to_string();
        let bound = lead.bound;
        let session = self.ownership.destination.session().await?;
        let store = &self.ownership.store;
        match store.heartbeat(session.client(), &bound, &said).await {
            Err(error) if error.reason() == replicant_checkpoint::Reason::LeaseLost => {
                self.is_still_ours().await
            }
            outcome => outcome.map_err(Error::from),
        }
    }

    /// The lease has another epoch: a bind of our own may have moved it, which the next beat will know.
    async fn is_still_ours(&mut self) -> Result<(), Error> {
        let lease = self.ownership.lease().await?;
        let owner = lease.and_then(|lease| lease.owner);
        match owner.as_deref() == Some(self.ownership.owner.as_str()) {
            true => Ok(()),
            false => Err(Reason::LeaseLost.into()),
        }
    }

    async fn last_word(&mut self, word: LastWord) -> Result<(), Error> {
        let lead = self.lead.borrow().clone();
        if let Some(lead) = lead {
            let said = self.said(&lead).to_string();
            let bound = lead.bound;
            let client = self.ownership.destination.session().await?.client();
            match Self::bury(&self.ownership.store, client, &bound, &said, word).await {
                // Somebody else owns the slot; the story is theirs now.
                Err(error) if error.reason() == replicant_checkpoint::Reason::LeaseLost => {}
                outcome => outcome?,
            }
        }
        self.ownership.unlock().await
    }

    async fn bury(
        store: &Store,
        client: &tokio_postgres::Client,
        bound: &Bound,
        said: &str,
        word: LastWord,
    ) -> Result<(), replicant_checkpoint::Error> {
        store.heartbeat(client, bound, said).await?;
        match word {
            LastWord::Stopped => store.release(client, bound).await,
            LastWord::Halted(tombstone) => store.tombstone(client, bound, tombstone).await,
        }
    }

    fn said(&self, lead: &Lead) -> Said {
        let progress = *self.progress.borrow();
        let status = *self.status.borrow();
        Said {
            phase: status.phase,
            watermark: progress
                .commit_lsn
                .map(|at| at.lsn())
                .or_else(|| lead.bound.watermark().map(|at| at.lsn())),
            progress,
            sessions: status.sessions,
            lag_bytes: status.lag_bytes(),
            notices: lead.notices.clone(),
        }
    }
}

/// What a beat says, as one small JSON object of words, numbers and positions. Keys are only ever added.
#[derive(Clone, Debug)]
struct Said {
    phase: Phase,
    watermark: Option<Lsn>,
    progress: Progress,
    sessions: u64,
    lag_bytes: u64,
    notices: BTreeSet<&'static str>,
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
            "\"lag_bytes\":{},\"transactions\":{},\"changes\":{},\"groups\":{},\"sessions\":{},",
            self.lag_bytes,
            self.progress.transactions,
            self.progress.changes,
            self.progress.groups,
            self.sessions
        )?;
        let notices: Vec<_> = self
            .notices
            .iter()
            .map(|code| format!("\"{code}\""))
            .collect();
        write!(f, "\"notices\":[{}]}}", notices.join(","))
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
            notices: BTreeSet::from(["source_partitions_unseen"]),
        };
        assert_eq!(
            said.to_string(),
            r#"{"phase":"retrying","reason":"source_unreachable","watermark":"0/16B3748","lag_bytes":80,"transactions":2,"changes":5,"groups":1,"sessions":4,"notices":["source_partitions_unseen"]}"#
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
