//! From a start to its end: own the slot, stream, and say how it ended.
//!
//! Ownership comes before anything is asked of the source, so that a process that stands by for the end of another one
//! holds one connection and nothing of the source.

use std::time::Duration;

use replicant_checkpoint::store::{Key, Store, owner_name};
use replicant_transport::pipeline::{self as transport, Phase, SourceOptions, Stopped};
use replicant_transport::reason::Class;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::destination::jittered;
use super::heartbeat::{Heartbeat, LastWord};
use super::ownership::{Look, Ownership};
use super::progress::Progress;
use super::sink::{Mirror, MirrorOptions};
use crate::error::Error;
use crate::options::Takeover;
use crate::reason::Reason;
use crate::telemetry::Telemetry;

/// First pause between two looks at another owner; it doubles from here. A restart finds the lock free at once or
/// moments later.
const LOOK_FIRST: Duration = Duration::from_millis(20);
/// Longest pause between two looks.
const LOOK_MAX: Duration = Duration::from_millis(500);
/// First pause before a destination that cannot be reached is tried again; it doubles from here, with full jitter.
const RETRY_FIRST: Duration = Duration::from_millis(200);
/// Longest pause before it is tried again.
const RETRY_MAX: Duration = Duration::from_secs(30);

/// One start of a pipeline.
pub(crate) struct Run {
    pub(crate) source: SourceOptions,
    pub(crate) mirror: MirrorOptions,
    pub(crate) takeover: Takeover,
    pub(crate) status: watch::Sender<transport::Status>,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) stop: CancellationToken,
}

impl Run {
    /// Runs until it is stopped or halts.
    pub(crate) async fn run(self) -> Result<(), Error> {
        let telemetry = Telemetry::new(&self.source.slot);
        loop {
            let ownership = match self.own().await {
                Ok(Some(ownership)) => ownership,
                Ok(None) => return self.end(&telemetry, Ok(())),
                Err(error) => return self.end(&telemetry, Err(error)),
            };
            match self.stream(ownership, &telemetry).await {
                // Another process that stood by was quicker.
                Err(error) if self.stands_by(&error) => {}
                outcome => return outcome,
            }
        }
    }

    fn stands_by(&self, error: &Error) -> bool {
        self.takeover == Takeover::Wait && error.code() == Reason::SlotOwnedElsewhere.code()
    }

    fn end(&self, telemetry: &Telemetry, outcome: Result<(), Error>) -> Result<(), Error> {
        let reason = outcome.as_ref().err().map(Error::code);
        if let Err(error) = &outcome {
            telemetry.halted(error);
        }
        self.phase(Phase::Stopped { reason });
        outcome
    }

    /// Looks until this process may own the slot. `None` when it was stopped before.
    async fn own(&self) -> Result<Option<Ownership>, Error> {
        let key = Key {
            source: self.source.expected.clone(),
            slot: self.source.slot.clone(),
        };
        let store = Store::new(&self.mirror.spec.checkpoint)?;
        let owner = self.mirror.owner.clone();
        let mut ownership = Ownership::new(store, key, owner, &self.mirror.destination);
        let (mut looks, mut pause) = (0_u32, LOOK_FIRST);
        let (mut failures, mut retry) = (0_u32, RETRY_FIRST);
        loop {
            let look = tokio::select! {
                look = ownership.look() => look,
                () = self.stop.cancelled() => return Ok(None),
            };
            let delay = match look {
                Ok(Look::Mine) => return Ok(Some(ownership)),
                Ok(Look::Owned(error)) if self.takeover == Takeover::Refuse => return Err(error),
                Ok(Look::Owned(_) | Look::Unclear) => {
                    looks = looks.saturating_add(1);
                    self.retrying(Reason::SlotOwnedElsewhere.code(), looks, pause);
                    let delay = pause;
                    pause = (pause * 2).min(LOOK_MAX);
                    delay
                }
                Err(error) if error.class() == Class::Transient => {
                    ownership.destination.discard();
                    failures = failures.saturating_add(1);
                    let delay = jittered(retry);
                    retry = (retry * 2).min(RETRY_MAX);
                    self.retrying(error.code(), failures, delay);
                    delay
                }
                Err(error) => return Err(error),
            };
            tokio::select! {
                () = sleep(delay) => {}
                () = self.stop.cancelled() => return Ok(None),
            }
        }
    }

    async fn stream(&self, ownership: Ownership, telemetry: &Telemetry) -> Result<(), Error> {
        let (lead_sender, lead) = watch::channel(None);
        let (lock_sender, lock) = watch::channel(ownership.held());
        let mirror = Mirror::new(
            self.mirror.clone(),
            &self.source.slot,
            self.progress.clone(),
            lead_sender,
            lock,
        )?;
        let heartbeat = Heartbeat {
            ownership,
            lead,
            lock: lock_sender,
            status: self.status.subscribe(),
            progress: self.progress.subscribe(),
            telemetry: telemetry.clone(),
        };
        let heartbeat = heartbeat.start();
        let (source, status) = (self.source.clone(), self.status.clone());
        let outcome = transport::run(source, mirror, status, self.stop.clone()).await;
        let outcome = outcome.map_err(|stopped| match stopped {
            Stopped::Sink(error) => error,
            Stopped::Source(error) => Error::from(error),
        });
        heartbeat.end(LastWord::of(&outcome)).await;
        outcome
    }

    fn retrying(&self, reason: &'static str, attempt: u32, delay: Duration) {
        self.phase(Phase::Retrying {
            reason,
            attempt,
            delay,
        });
    }

    fn phase(&self, phase: Phase) {
        self.status.send_modify(|status| status.phase = phase);
    }
}

/// This process among all that may own a slot.
pub(crate) fn owner() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    owner_name(&machine, fastrand::u64(..))
}
