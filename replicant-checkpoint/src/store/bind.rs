//! Who may write from now on, and does the stored checkpoint belong to this source and this declaration?
//!
//! One transaction: rows are found by SLOT, so that a row of another source is seen; everything is compared before
//! anything is written; then the epoch moves. Waiting for the watermark row is waiting for an old owner's open
//! delivery, which therefore ends, one way or the other, before the new owner reads the watermark.

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::{EndLsn, WalEnd, Watermark};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::lease::LEASE_INTERVAL;
use super::rows::{Locked, Positions};
use super::transaction::Open;
use super::transition::{fingerprint, transition};
use super::{KEY, Key, KeyText, Param, Store};
use crate::contract::manifest::Manifest;
use crate::error::Error;
use crate::reason::Reason;

/// What is being bound.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// Which checkpoint.
    pub key: &'a Key,
    /// The source's timeline now.
    pub timeline: u32,
    /// How far the source's WAL reaches now.
    pub wal_end: WalEnd,
    /// What is declared now.
    pub manifest: &'a Manifest,
    /// Every destination table this sink writes.
    pub targets: &'a [QualifiedName],
    /// Who binds; see [`owner_name`](super::owner_name).
    pub owner: &'a str,
    /// What the binder has to show when another owner holds the lease.
    pub standing: Standing,
}

/// What a binder has to show when another owner holds the lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The lease's lock: no connection of the other owner is left, so its lease means nothing any more.
    LockHolder,
    /// Nothing: it is refused with `slot_owned_elsewhere` until the lease has expired or was given back.
    Applicant,
    /// It owned the slot before, so another owner's lease means that it has lost it: `lease_lost`.
    Owner,
}

/// Since when an owner may write. A number is never used twice in one destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Epoch(pub(super) i64);

impl Epoch {
    /// The number.
    pub fn value(self) -> i64 {
        self.0
    }
}

/// How the stored contract relates to the declared one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No contract was stored.
    Initialised,
    /// It is the same; nothing was written.
    Unchanged,
    /// It grew compatibly and was replaced; positions were not touched.
    Grown,
}

/// Proof of a bind: the right to deliver until somebody else binds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    key: Key,
    text: KeyText,
    epoch: Epoch,
    watermark: Option<Watermark>,
    acked_end: Option<EndLsn>,
    wal_end: WalEnd,
    outcome: Outcome,
}

impl Bound {
    /// Which checkpoint.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Since when this owner may write.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// What was applied when this was bound.
    pub fn watermark(&self) -> Option<Watermark> {
        self.watermark
    }

    /// What could be acknowledged when this was bound. `None` only before the first start.
    pub fn acked_end(&self) -> Option<EndLsn> {
        self.acked_end
    }

    /// How far the source's WAL reached when this was bound.
    pub(super) fn wal_end(&self) -> WalEnd {
        self.wal_end
    }

    /// How the stored contract relates to the declared one.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// `$1` to `$4` of every fenced statement.
    pub(super) fn fence(&self) -> Vec<Param<'_>> {
        let mut params = self.text.params();
        params.push((&self.epoch.0, Type::INT8));
        params
    }
}

impl Store {
    /// Takes the lease and the epoch for this owner, after comparing source, timeline, positions, contract and
    /// destination tables with what is stored. A slot that was never bound gets its rows, without a position.
    ///
    /// # Errors
    /// `source_identity_rebound`, `source_timeline_changed`, `source_behind_watermark`,
    /// `publication_contract_incompatible`, `destination_target_claimed`, `slot_owned_elsewhere`, `lease_lost`; in all
    /// of these nothing was written. `checkpoint_not_migrated` before the first migration.
    ///
    /// # Cancel safety
    /// Dropping the future rolls back what was not committed; whether the epoch moved is unknown, so bind again.
    pub async fn bind(&self, client: &mut Client, binding: &Binding<'_>) -> Result<Bound, Error> {
        let seen = self.warnings.seen();
        let open = Open::new(client);
        let text = binding.key.text();
        let locked = self.lock_or_insert(open.client(), &text).await?;
        let outcome = judge(binding, &text, &locked)?;
        let (epoch, ()) = tokio::try_join!(
            self.take(open.client(), &text, binding.owner),
            self.claim(open.client(), &text, binding.targets),
        )?;
        if outcome != Outcome::Unchanged {
            self.write_contract(open.client(), &text, binding).await?;
        }
        open.commit().await?;
        self.warnings.none_since(seen)?;
        Ok(Bound {
            key: binding.key.clone(),
            text,
            epoch,
            watermark: locked.positions.watermark,
            acked_end: locked.positions.acked_end,
            wal_end: binding.wal_end,
            outcome,
        })
    }

    /// Moves the epoch of the locked lease and watermark rows.
    async fn take(&self, client: &Client, key: &KeyText, owner: &str) -> Result<Epoch, Error> {
        let sql = format!(
            "with lease as (update {leases} set owned_since = case \
             when owner = $4 then owned_since else pg_catalog.clock_timestamp() end, \
             owner = $4, epoch = {next}, \
             heartbeat_at = pg_catalog.clock_timestamp(), \
             expires_at = pg_catalog.clock_timestamp() + {LEASE_INTERVAL}, status = null, \
             terminal_cause = null, terminal_class = null, terminal_at = null \
             where {KEY} returning epoch) \
             update {watermarks} set epoch = lease.epoch from lease where {KEY} \
             returning lease.epoch",
            leases = self.table("replicant_leases"),
            watermarks = self.table("replicant_watermarks"),
            next = self.next_epoch(),
        );
        let mut params = key.params();
        params.push((&owner, Type::TEXT));
        let row = client.query_typed_opt(&sql, &params).await?;
        let row = row.ok_or(Reason::CheckpointContended)?;
        Ok(Epoch(row.try_get(0)?))
    }

    async fn write_contract(
        &self,
        client: &Client,
        key: &KeyText,
        binding: &Binding<'_>,
    ) -> Result<(), Error> {
        let sql = format!(
            "insert into {} as stored (system_id, database, slot, timeline, manifest, fingerprint) \
             values ($1, $2, $3, $4, $5, $6) on conflict (slot) do update set \
             timeline = excluded.timeline, manifest = excluded.manifest, \
             fingerprint = excluded.fingerprint, bound_at = excluded.bound_at",
            self.table("replicant_contracts")
        );
        let timeline = i64::from(binding.timeline);
        let manifest = binding.manifest.encode();
        let digest = fingerprint(&manifest);
        let mut params = key.params();
        params.push((&timeline, Type::INT8));
        params.push((&manifest, Type::BYTEA));
        params.push((&digest, Type::BYTEA));
        client.execute_typed(&sql, &params).await?;
        Ok(())
    }
}

/// Everything that is compared before anything is written.
fn judge(binding: &Binding<'_>, key: &KeyText, stored: &Locked) -> Result<Outcome, Error> {
    if !stored.belongs_to(key) {
        return Err(Reason::SourceIdentityRebound.into());
    }
    may_own(binding, stored)?;
    let timeline = stored.contract.as_ref().map(|contract| contract.timeline);
    source_fits(
        timeline,
        stored.positions,
        binding.timeline,
        binding.wal_end,
    )?;
    transition(stored.contract.as_ref(), binding.manifest)
}

/// May this binder own the slot now?
fn may_own(binding: &Binding<'_>, stored: &Locked) -> Result<(), Error> {
    let Some(lease) = &stored.lease else {
        return Ok(());
    };
    let ours = lease.owner.as_deref() == Some(binding.owner);
    match binding.standing {
        Standing::LockHolder => Ok(()),
        Standing::Applicant if lease.is_live() && !ours => Err(lease.refusal()),
        Standing::Applicant => Ok(()),
        // A decision about the checkpoint moves the watermark's epoch and leaves the lease.
        Standing::Owner if ours && lease.epoch == stored.epoch => Ok(()),
        Standing::Owner => Err(Reason::LeaseLost.into()),
    }
}

/// Is this source still the one that sent what is stored: the same timeline, and not before it?
pub(super) fn source_fits(
    stored_timeline: Option<i64>,
    stored: Positions,
    timeline: u32,
    wal_end: WalEnd,
) -> Result<(), Error> {
    if stored_timeline.is_some_and(|stored| stored != i64::from(timeline)) {
        return Err(Error::new(
            Reason::SourceTimelineChanged,
            Site::none().fact(format!("the source is on timeline {timeline}")),
        ));
    }
    let beyond = |lsn| {
        Error::new(
            Reason::SourceBehindWatermark,
            Site::none()
                .lsn(lsn)
                .fact(format!("the source's WAL ends at {wal_end}")),
        )
    };
    if let Some(watermark) = stored.watermark
        && watermark.is_beyond(wal_end)
    {
        return Err(beyond(watermark.lsn()));
    }
    // An idle advance moves only this one; a source restored to between the two has forgotten it.
    if let Some(acked) = stored.acked_end
        && acked.lsn() > wal_end.lsn()
    {
        return Err(beyond(acked.lsn()));
    }
    Ok(())
}
