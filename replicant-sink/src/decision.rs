//! What may a person look at and decide about a pipeline's checkpoint while nothing runs?
//!
//! Every decision is refused while an owner lives, changes nothing the second time, and is recorded beside the
//! checkpoint with the database role that took it.

pub use replicant_checkpoint::store::{Decided, Position};
use replicant_checkpoint::store::{Key, LeaseState, Shown, Store};
use replicant_transport::connect::{SqlSession, sql};
use replicant_transport::error::Site;
use replicant_transport::pipeline::probe_slot;
use serde::Serialize;

use crate::delivery::destination::as_destination;
use crate::doctor;
use crate::doctor::sides;
use crate::error::Error;
use crate::pipeline::{Ends, Pipeline};
use crate::reason::Reason;

/// What may be left of the slot when its checkpoint is forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotOnSource {
    /// It must be gone, so that the next start is a new mirror.
    MustBeGone,
    /// It may stay; the next start goes forward from where it is, and what lies before is not mirrored.
    MayStay,
}

/// A checkpoint as an operator reads it. Positions are texts such as `0/16B3748`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stored {
    /// `<system identifier>/<database>`.
    pub source: String,
    /// The slot.
    pub slot: String,
    /// What is applied; null before the first start.
    pub watermark: Option<String>,
    /// What may be acknowledged; null before the first start.
    pub acked_end: Option<String>,
    /// The source's timeline at the last bind.
    pub timeline: Option<i64>,
    /// SHA-256 of the stored contract, in hexadecimal.
    pub fingerprint: Option<String>,
    /// Who owned it last.
    pub owner: Option<String>,
    /// `live`, `expired` or `released`.
    pub lease: Option<&'static str>,
    /// Every mapped source table: `complete`, `filling` or `open`.
    pub tables: Vec<StoredTable>,
    /// The latest decisions, newest first.
    pub decisions: Vec<StoredDecision>,
}

/// One mapped source table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StoredTable {
    /// Schema and table on the source.
    pub table: String,
    /// How much of it the destination holds.
    pub completeness: &'static str,
}

/// One recorded decision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StoredDecision {
    /// When, by the destination's clock.
    pub at: String,
    /// The database role.
    pub by: String,
    /// What was decided.
    pub decision: String,
    /// The position or the like.
    pub fact: String,
}

/// Everything stored about the pipeline's slot; `None` when there is nothing.
///
/// # Errors
/// `config_invalid` and the like; the checkpoint's reasons.
///
/// # Cancel safety
/// Cancel safe: the session is read-only.
pub async fn show(pipeline: &Pipeline) -> Result<Option<Stored>, Error> {
    let ends = sides::read_only(pipeline)?;
    let session = sides::destination(&ends).await?;
    let client = &session.client;
    let store = Store::new(&pipeline.spec().checkpoint)?;
    let Some(shown) = stored(&store, client, &ends).await? else {
        return Ok(None);
    };
    let tables = doctor::tables(pipeline, &store, client, &ends.slot).await?;
    let decisions = store.decisions(client, &ends.slot).await?;
    Ok(Some(Stored {
        source: format!("{}/{}", shown.system, shown.database),
        slot: shown.slot,
        watermark: shown.watermark.map(|at| at.to_string()),
        acked_end: shown.acked_end.map(|at| at.to_string()),
        timeline: shown.timeline,
        fingerprint: shown.fingerprint,
        lease: shown.lease.as_ref().map(|lease| lease.state.as_str()),
        owner: shown.lease.and_then(|lease| lease.owner),
        tables: tables
            .into_iter()
            .map(|(table, state)| StoredTable {
                table: table.to_string(),
                completeness: state.as_str(),
            })
            .collect(),
        decisions: decisions
            .into_iter()
            .map(|one| StoredDecision {
                at: one.at,
                by: one.by,
                decision: one.decision,
                fact: one.fact,
            })
            .collect(),
    }))
}

/// Takes over a mirror that somebody else filled up to this position. Creates the checkpoint tables if need be.
///
/// # Errors
/// `source_identity_required`, `slot_already_active`, `checkpoint_adopt_conflict`, destination faults.
///
/// # Cancel safety
/// Dropping the future leaves open whether it was decided; decide again.
pub async fn adopt(pipeline: &Pipeline, position: Position) -> Result<Decided, Error> {
    let Offline {
        store,
        key,
        mut session,
        ..
    } = offline(pipeline).await?;
    store.migrate(&mut session.client).await?;
    Ok(store.adopt(&mut session.client, &key, position).await?)
}

/// Forgets the checkpoint.
///
/// # Errors
/// `slot_exists` unless it may stay, and whatever keeps the source from being asked about it;
/// `source_identity_required`, `slot_already_active`, destination faults.
///
/// # Cancel safety
/// Dropping the future leaves open whether it was decided; decide again.
pub async fn reset(pipeline: &Pipeline, slot: SlotOnSource) -> Result<Decided, Error> {
    let Offline {
        ends,
        store,
        key,
        mut session,
        shown,
    } = offline(pipeline).await?;
    if slot == SlotOnSource::MustBeGone {
        let report = probe_slot(&ends.source, &ends.slot, Some(&key.source)).await?;
        if report.slot.is_some() {
            return Err(Reason::SlotExists.into());
        }
    }
    match shown {
        None => Ok(Decided::AlreadySo),
        Some(_) => Ok(store.reset(&mut session.client, &key).await?),
    }
}

/// Accepts the timeline that the source is on now.
///
/// # Errors
/// `source_identity_required`, `source_identity_mismatch`, `checkpoint_unbound`, `checkpoint_adopt_invalid`,
/// `slot_already_active`; whatever keeps either side from being asked.
///
/// # Cancel safety
/// Dropping the future leaves open whether it was decided; decide again.
pub async fn acknowledge_timeline(pipeline: &Pipeline) -> Result<Decided, Error> {
    let Offline {
        ends,
        store,
        key,
        mut session,
        ..
    } = offline(pipeline).await?;
    let report = probe_slot(&ends.source, &ends.slot, Some(&key.source)).await?;
    let timeline = report.identity.timeline;
    let client = &mut session.client;
    Ok(store.acknowledge_timeline(client, &key, timeline).await?)
}

/// A checkpoint that nobody owns at the moment.
struct Offline {
    ends: Ends,
    store: Store,
    key: Key,
    session: SqlSession,
    shown: Option<Shown>,
}

/// Looks first, so that a live owner is the reason whatever else is wrong; the store asks again under its locks.
async fn offline(pipeline: &Pipeline) -> Result<Offline, Error> {
    let ends = pipeline.ends()?;
    let source = pipeline.options().source_identity.clone();
    let source = source.ok_or_else(|| {
        Error::new(
            Reason::SourceIdentityRequired,
            Site::option("source_identity"),
        )
    })?;
    let key = Key {
        source,
        slot: ends.slot.clone(),
    };
    let session = sql(&ends.destination).await.map_err(as_destination)?;
    let store = Store::new(&pipeline.spec().checkpoint)?;
    let shown = stored(&store, &session.client, &ends).await?;
    let lease = shown.as_ref().and_then(|shown| shown.lease.as_ref());
    if lease.is_some_and(|lease| lease.state == LeaseState::Live) {
        return Err(Reason::SlotAlreadyActive.into());
    }
    Ok(Offline {
        ends,
        store,
        key,
        session,
        shown,
    })
}

async fn stored(
    store: &Store,
    client: &tokio_postgres::Client,
    ends: &Ends,
) -> Result<Option<Shown>, Error> {
    match store.show(client, &ends.slot).await {
        // Before the first start there are no tables, which is no mistake.
        Err(error) if error.code() == "checkpoint_not_migrated" => Ok(None),
        shown => Ok(shown?),
    }
}
