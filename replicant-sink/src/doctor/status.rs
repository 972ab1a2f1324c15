//! What is going on: who runs the pipeline, how far it is, how far behind, and why it stopped if it did.
//!
//! Asked from outside, it knows what the owner wrote into its lease and what source and destination show. It names
//! identities and positions, which a diagnosis does not.

use replicant_checkpoint::store::{LeaseLock, LeaseState, Shown, Store};
use replicant_transport::pipeline::{Reader, Retention, SlotReport, probe_slot};
use serde::Serialize;

use super::sides::{destination, read_only};
use crate::error::Error;
use crate::pipeline::{Ends, Pipeline};

/// What a pipeline is doing.
///
/// There is no `healthy`: that is a stronger claim than anything seen from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its owner lives and is connecting.
    Starting,
    /// Its owner lives and reads older transactions.
    CatchingUp,
    /// Its owner lives and has read everything the source had.
    Streaming,
    /// Its owner lives, lost the source and tries again.
    Retrying,
    /// Its owner lives and is ending.
    Stopping,
    /// Its owner stopped as it was asked to, or there never was one.
    NotStarted,
    /// Its owner vanished without a word.
    OwnerLost,
    /// Its owner stopped for a reason.
    Halted,
}

/// What is known about one pipeline. Positions are texts such as `0/16B3748`; absent facts are null.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Status {
    /// The pipeline's name.
    pub pipeline: String,
    /// What it is doing.
    pub state: State,
    /// 0 runs, 2 does not run or needs a look, 1 halted or lost, 3 could not be asked.
    pub exit_code: u8,
    /// `<system identifier>/<database>` of the source whose changes are stored.
    pub source: Option<String>,
    /// The slot's name.
    pub slot: String,
    /// Who holds the lease, or held it last.
    pub lease: Option<HeldLease>,
    /// What the owner wrote with its last heartbeat: a JSON object.
    pub reported: Option<String>,
    /// Why the last owner halted.
    pub halted: Option<LastHalt>,
    /// What is applied.
    pub watermark: Option<String>,
    /// What may be acknowledged.
    pub acked_end: Option<String>,
    /// End of the source's WAL now.
    pub source_wal_end: Option<String>,
    /// Bytes of the source's WAL that the mirror has not confirmed; 0 when there is nothing to read.
    pub lag_bytes: Option<u64>,
    /// The slot on the source.
    pub slot_now: Option<SlotNow>,
    /// Code of the reason why the source could not be asked.
    pub source_unasked: Option<&'static str>,
}

/// A lease as an operator reads it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HeldLease {
    /// `live`, `expired` or `released`.
    pub state: &'static str,
    /// Machine, and a number of the process's own.
    pub owner: Option<String>,
    /// Since when it owns the slot, by the destination's clock.
    pub since: Option<String>,
    /// Its last bind, as a number that only grows.
    pub epoch: i64,
    /// Milliseconds since the last heartbeat.
    pub heartbeat_age_ms: Option<u64>,
    /// `held` while a connection of an owner exists, else `free`: a live lease with a free lock is an owner that vanished.
    pub lock: &'static str,
}

/// Why the last owner halted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LastHalt {
    /// Code of the reason; `explain` says what to do.
    pub reason: String,
    /// Its class.
    pub class: String,
    /// When, by the destination's clock.
    pub at: String,
}

/// The slot on the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SlotNow {
    /// A walsender reads it.
    pub active: bool,
    /// Where it would start; null when it cannot be used.
    pub confirmed_flush: Option<String>,
    /// Code of the reason why it cannot be used.
    pub unusable: Option<&'static str>,
    /// `reserved`, `extended`, `unreserved`, `lost` or `unknown`.
    pub wal_status: &'static str,
    /// Bytes of WAL the source keeps for it.
    pub retained_bytes: Option<u64>,
    /// Bytes that may still be written before that WAL is at risk; null without a limit.
    pub safe_bytes: Option<i64>,
}

/// Asks the destination what is stored and the source how far it is.
///
/// A source that cannot be asked leaves its facts out and says why: a pipeline whose source is down is retrying, and
/// that is worth knowing.
///
/// # Errors
/// `config_invalid` and the like; whatever keeps the destination from being asked.
///
/// # Cancel safety
/// Cancel safe: nothing is created or written.
pub async fn status(pipeline: &Pipeline) -> Result<Status, Error> {
    let ends = read_only(pipeline)?;
    let (shown, lock) = stored(pipeline, &ends).await?;
    let expected = pipeline.options().source_identity.as_ref();
    let source = probe_slot(&ends.source, &ends.slot, expected).await;
    let (report, unasked) = match source {
        Ok(report) => (Some(report), None),
        Err(error) => (None, Some(Error::from(error).code())),
    };
    let mut status = Status {
        pipeline: pipeline.name().to_owned(),
        state: state(shown.as_ref()),
        exit_code: 0,
        source: shown
            .as_ref()
            .map(|shown| format!("{}/{}", shown.system, shown.database)),
        slot: ends.slot.to_string(),
        lease: None,
        reported: None,
        halted: None,
        watermark: None,
        acked_end: None,
        source_wal_end: report
            .as_ref()
            .map(|report| report.identity.wal_end.to_string()),
        lag_bytes: None,
        slot_now: report.as_ref().and_then(slot_now),
        source_unasked: unasked,
    };
    if let Some(shown) = &shown {
        status.watermark = shown.watermark.map(|at| at.to_string());
        status.acked_end = shown.acked_end.map(|at| at.to_string());
        status.lag_bytes = shown.acked_end.zip(report.as_ref()).map(|(acked, report)| {
            let end = report.identity.wal_end.lsn().value();
            end.saturating_sub(acked.lsn().value())
        });
    }
    if let Some(lease) = shown.and_then(|shown| shown.lease) {
        status.lease = Some(HeldLease {
            state: lease.state.as_str(),
            owner: lease.owner,
            since: lease.since,
            epoch: lease.epoch.value(),
            heartbeat_age_ms: lease
                .heartbeat_age
                .and_then(|age| u64::try_from(age.as_millis()).ok()),
            lock: match lock {
                LeaseLock::Free => "free",
                LeaseLock::Ours | LeaseLock::Elsewhere => "held",
            },
        });
        status.reported = lease.status;
        status.halted = lease.tombstone.map(|buried| LastHalt {
            reason: buried.cause,
            class: buried.class,
            at: buried.at,
        });
    }
    status.exit_code = exit_code(&status);
    Ok(status)
}

/// What is stored, and whether a connection of an owner exists.
async fn stored(pipeline: &Pipeline, ends: &Ends) -> Result<(Option<Shown>, LeaseLock), Error> {
    let session = destination(ends).await?;
    let store = Store::new(&pipeline.spec().checkpoint)?;
    let shown = match store.show(&session.client, &ends.slot).await {
        Err(error) if error.code() == "checkpoint_not_migrated" => None,
        shown => shown?,
    };
    let lock = match shown.as_ref().and_then(|shown| shown.key(&ends.slot)) {
        None => LeaseLock::Free,
        Some(key) => store.lease_lock(&session.client, &key).await?,
    };
    Ok((shown, lock))
}

fn state(shown: Option<&Shown>) -> State {
    let Some(lease) = shown.and_then(|shown| shown.lease.as_ref()) else {
        return State::NotStarted;
    };
    match lease.state {
        _ if lease.tombstone.is_some() => State::Halted,
        LeaseState::Released => State::NotStarted,
        LeaseState::Expired => State::OwnerLost,
        LeaseState::Live => match lease.phase.as_deref() {
            Some("catching_up") => State::CatchingUp,
            Some("streaming") => State::Streaming,
            Some("retrying") => State::Retrying,
            Some("stopping" | "stopped") => State::Stopping,
            _ => State::Starting,
        },
    }
}

fn slot_now(report: &SlotReport) -> Option<SlotNow> {
    let slot = report.slot.as_ref()?;
    Some(SlotNow {
        active: slot.reader == Reader::Active,
        confirmed_flush: slot.origin.as_ref().ok().map(ToString::to_string),
        unusable: slot.origin.as_ref().err().map(|error| error.reason.code()),
        wal_status: match slot.retention {
            Retention::Reserved => "reserved",
            Retention::Extended => "extended",
            Retention::Unreserved => "unreserved",
            Retention::Lost => "lost",
            Retention::Unknown => "unknown",
        },
        retained_bytes: slot.retained_bytes,
        safe_bytes: slot.safe_bytes,
    })
}

fn exit_code(status: &Status) -> u8 {
    let slot = status.slot_now.as_ref();
    let unusable = slot.is_some_and(|slot| slot.unusable.is_some());
    let at_risk = slot.is_some_and(|slot| {
        slot.wal_status == "unreserved" || slot.safe_bytes.is_some_and(|bytes| bytes <= 0)
    });
    match status.state {
        State::Halted | State::OwnerLost => 1,
        _ if unusable => 1,
        State::Retrying | State::NotStarted => 2,
        _ if at_risk || status.source_unasked.is_some() => 2,
        State::Starting | State::CatchingUp | State::Streaming | State::Stopping => 0,
    }
}
