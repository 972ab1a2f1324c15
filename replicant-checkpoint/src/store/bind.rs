//! Who may write from now on, and does the stored checkpoint belong to this source and this declaration?
//!
//! One transaction: rows are found by SLOT, so that a row of another source is seen; everything is compared before
//! anything is written; then the epoch moves. Waiting for the watermark row is waiting for an old owner's open
//! delivery, which therefore ends, one way or the other, before the new owner reads the watermark.

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::{EndLsn, Lsn, WalEnd, Watermark};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::lease::{LEASE, LEASE_INTERVAL, Lease};
use super::transaction::{BEGIN, Open};
use super::transition::{Stored, fingerprint, transition};
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
    /// Who binds: unique per process, for example host, process id and a random number.
    pub owner: &'a str,
    /// What a live lease of another owner means.
    pub takeover: Takeover,
}

/// What a live lease of another owner means to a binder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takeover {
    /// Nothing: the newest binder owns the slot, and the old owner's next delivery is refused.
    Now,
    /// The binder is refused with `slot_already_active` until the lease expires.
    AfterExpiry,
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
    /// `publication_contract_incompatible`, `destination_target_claimed`, `slot_already_active`; in all of these
    /// nothing was written. `checkpoint_not_migrated` before the first migration.
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
            outcome,
        })
    }

    /// Locks the three rows of a slot, in order, after making sure that the first two exist.
    pub(super) async fn lock_or_insert(
        &self,
        client: &Client,
        key: &KeyText,
    ) -> Result<Locked, Error> {
        let leases = self.table("replicant_leases");
        let watermarks = self.table("replicant_watermarks");
        // Conflicts are named by no column, because a foreign row conflicts on the slot alone.
        let new_lease = format!(
            "insert into {leases} (system_id, database, slot, epoch, expires_at) \
             values ($1, $2, $3, 0, '-infinity') on conflict do nothing"
        );
        let new_watermark = format!(
            "insert into {watermarks} (system_id, database, slot, epoch) \
             values ($1, $2, $3, 0) on conflict do nothing"
        );
        let params = key.params();
        let (begun, format, lease, watermark, locked) = tokio::join!(
            biased;
            client.batch_execute(BEGIN),
            self.check_format(client),
            client.execute_typed(&new_lease, &params),
            client.execute_typed(&new_watermark, &params),
            self.lock_rows(client, key),
        );
        begun?;
        format?;
        lease?;
        watermark?;
        // A reset that committed between our inserts and our locks took the rows away again.
        locked?.ok_or_else(|| Reason::CheckpointContended.into())
    }

    /// Locks the rows of a slot inside an open transaction. `None` when there is no watermark row.
    pub(super) async fn lock_rows(
        &self,
        client: &Client,
        key: &KeyText,
    ) -> Result<Option<Locked>, Error> {
        let lease = format!(
            "select {LEASE} from {} where slot = $1 for update",
            self.table("replicant_leases")
        );
        let watermark = format!(
            "select system_id, database, watermark, acked_end, epoch from {} \
             where slot = $1 for update",
            self.table("replicant_watermarks")
        );
        let contract = format!(
            "select timeline, manifest, fingerprint from {} where slot = $1 for update",
            self.table("replicant_contracts")
        );
        let slot: [Param<'_>; 1] = [(&key.slot, Type::TEXT)];
        let (lease, watermarks, contract) = tokio::join!(
            biased;
            client.query_typed(&lease, &slot),
            client.query_typed(&watermark, &slot),
            client.query_typed(&contract, &slot),
        );
        let (lease, watermarks, contract) = (lease?, watermarks?, contract?);
        if lease.len() > 1 || watermarks.len() > 1 || contract.len() > 1 {
            // Possible only when somebody dropped the unique index.
            return Err(Reason::SourceIdentityRebound.into());
        }
        let Some(row) = watermarks.first() else {
            return Ok(None);
        };
        Ok(Some(Locked {
            system: row.try_get(0)?,
            database: row.try_get(1)?,
            positions: Positions::read(row, 2)?,
            lease: lease.first().map(Lease::read).transpose()?,
            contract: contract.first().map(Stored::read).transpose()?,
        }))
    }

    /// Moves the epoch of the locked lease and watermark rows.
    async fn take(&self, client: &Client, key: &KeyText, owner: &str) -> Result<Epoch, Error> {
        let sql = format!(
            "with lease as (update {leases} set owner = $4, epoch = {next}, \
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

    /// Claims destination tables, in order of their names so that two binders cannot deadlock.
    async fn claim(
        &self,
        client: &Client,
        key: &KeyText,
        targets: &[QualifiedName],
    ) -> Result<(), Error> {
        let table = self.table("replicant_targets");
        let schemas: Vec<&str> = targets.iter().map(|name| name.schema.as_str()).collect();
        let tables: Vec<&str> = targets.iter().map(|name| name.name.as_str()).collect();
        let params: [Param<'_>; 3] = [
            (&key.slot, Type::TEXT),
            (&schemas, Type::TEXT_ARRAY),
            (&tables, Type::TEXT_ARRAY),
        ];
        let insert = format!(
            "insert into {table} (slot, target_schema, target_table) \
             select $1, wanted.s, wanted.t from rows from (pg_catalog.unnest($2), pg_catalog.unnest($3)) \
             as wanted (s, t) order by wanted.s collate pg_catalog.\"C\", wanted.t collate pg_catalog.\"C\" \
             on conflict (target_schema, target_table) do nothing"
        );
        let foreign = format!(
            "select claimed.target_schema, claimed.target_table from {table} as claimed \
             join rows from (pg_catalog.unnest($2), pg_catalog.unnest($3)) as wanted (s, t) \
             on claimed.target_schema = wanted.s and claimed.target_table = wanted.t \
             where claimed.slot <> $1 order by 1, 2 limit 1"
        );
        let (inserted, foreign) = tokio::join!(
            biased;
            client.execute_typed(&insert, &params),
            client.query_typed_opt(&foreign, &params),
        );
        inserted?;
        match foreign? {
            None => Ok(()),
            Some(row) => {
                let name = QualifiedName::new(row.try_get(0)?, row.try_get(1)?)
                    .map_err(|_| Reason::CheckpointDamaged)?;
                Err(Error::new(
                    Reason::DestinationTargetClaimed,
                    Site::table(&name),
                ))
            }
        }
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

/// The rows of one slot, locked.
#[derive(Debug)]
pub(super) struct Locked {
    system: String,
    database: String,
    pub(super) positions: Positions,
    pub(super) lease: Option<Lease>,
    pub(super) contract: Option<Stored>,
}

impl Locked {
    /// Are these the rows of this very source?
    pub(super) fn belongs_to(&self, key: &KeyText) -> bool {
        self.system == key.system && self.database == key.database
    }
}

/// The two positions that every decision needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Positions {
    pub(super) watermark: Option<Watermark>,
    pub(super) acked_end: Option<EndLsn>,
}

impl Positions {
    /// Reads two nullable bigint columns, starting at this one.
    pub(super) fn read(row: &Row, first: usize) -> Result<Self, Error> {
        let lsn = |index| -> Result<Option<Lsn>, Error> {
            row.try_get::<_, Option<i64>>(index)?
                .map(|value| Lsn::from_bigint(value).ok_or(Reason::CheckpointDamaged.into()))
                .transpose()
        };
        Ok(Self {
            watermark: lsn(first)?.map(Watermark::stored),
            acked_end: lsn(first + 1)?.map(EndLsn::new),
        })
    }
}

/// Everything that is compared before anything is written.
fn judge(binding: &Binding<'_>, key: &KeyText, stored: &Locked) -> Result<Outcome, Error> {
    if !stored.belongs_to(key) {
        return Err(Reason::SourceIdentityRebound.into());
    }
    if let Some(lease) = &stored.lease
        && binding.takeover == Takeover::AfterExpiry
        && lease.is_live()
        && lease.owner.as_deref() != Some(binding.owner)
    {
        return Err(Reason::SlotAlreadyActive.into());
    }
    if let Some(contract) = &stored.contract
        && contract.timeline != i64::from(binding.timeline)
    {
        return Err(Error::new(
            Reason::SourceTimelineChanged,
            Site::none().fact(format!("the source is on timeline {}", binding.timeline)),
        ));
    }
    let beyond = |lsn| {
        Error::new(
            Reason::SourceBehindWatermark,
            Site::none()
                .lsn(lsn)
                .fact(format!("the source's WAL ends at {}", binding.wal_end)),
        )
    };
    if let Some(watermark) = stored.positions.watermark
        && watermark.is_beyond(binding.wal_end)
    {
        return Err(beyond(watermark.lsn()));
    }
    // An idle advance moves only this one; a source restored to between the two has forgotten it.
    if let Some(acked) = stored.positions.acked_end
        && acked.lsn() > binding.wal_end.lsn()
    {
        return Err(beyond(acked.lsn()));
    }
    transition(stored.contract.as_ref(), binding.manifest)
}
