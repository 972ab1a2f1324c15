//! What is stored about a slot, and does it fit what is declared? Reads only, and takes no lock.

use std::collections::HashMap;

use replicant_transport::ident::{QualifiedName, SlotName};
use replicant_transport::position::{EndLsn, Watermark};
use replicant_transport::source::{ExpectedSource, SourceIdentity};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bind::{Outcome, source_fits};
use super::lease::{LEASE, Lease};
use super::rows::Positions;
use super::tables::Completeness;
use super::transition::{Stored, transition};
use super::{Key, Param, Store};
use crate::contract::manifest::Manifest;
use crate::error::Error;
use crate::reason::Reason;

/// How many decisions are shown.
const DECISIONS_MAX: i64 = 20;

/// Everything stored about one slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The source's system identifier.
    pub system: String,
    /// The source database.
    pub database: String,
    /// The slot.
    pub slot: String,
    /// What is applied.
    pub watermark: Option<Watermark>,
    /// What may be acknowledged.
    pub acked_end: Option<EndLsn>,
    /// The source's timeline at the last bind. `None` before the first.
    pub timeline: Option<i64>,
    /// SHA-256 of the stored contract, in hexadecimal. `None` before the first bind.
    pub fingerprint: Option<String>,
    /// Who owns it.
    pub lease: Option<Lease>,
}

impl Shown {
    /// Would a bind of this source accept what is stored, the contract aside?
    ///
    /// # Errors
    /// `source_identity_rebound`, `source_timeline_changed`, `source_behind_watermark`.
    pub fn fits(&self, source: &SourceIdentity) -> Result<(), Error> {
        self.belongs_to(&source.source())?;
        let stored = Positions {
            watermark: self.watermark,
            acked_end: self.acked_end,
        };
        source_fits(self.timeline, stored, source.timeline, source.wal_end)
    }

    /// Which checkpoint this is. `None` when what is stored names no source.
    pub fn key(&self, slot: &SlotName) -> Option<Key> {
        let source = format!("{}/{}", self.system, self.database).parse().ok()?;
        Some(Key {
            source,
            slot: slot.clone(),
        })
    }

    /// Is it of this very source?
    ///
    /// # Errors
    /// `source_identity_rebound`.
    pub fn belongs_to(&self, source: &ExpectedSource) -> Result<(), Error> {
        if self.system == source.system.to_string() && self.database == source.database {
            Ok(())
        } else {
            Err(Reason::SourceIdentityRebound.into())
        }
    }
}

/// What an operator decided about a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// When, by the destination's clock.
    pub at: String,
    /// The database role that decided.
    pub by: String,
    /// What was decided.
    pub decision: String,
    /// The position or the like.
    pub fact: String,
}

impl Store {
    /// Everything stored about a slot, whatever source it belongs to.
    ///
    /// # Errors
    /// `checkpoint_not_migrated`, `checkpoint_format_unknown`, `checkpoint_damaged`, destination faults.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn show(&self, client: &Client, slot: &SlotName) -> Result<Option<Shown>, Error> {
        self.check_format(client).await?;
        let sql = format!(
            "select w.watermark, w.acked_end, w.system_id, w.database, c.timeline, \
             pg_catalog.encode(c.fingerprint, 'hex') from {} as w left join {} as c \
             on c.slot = w.slot where w.slot = $1",
            self.table("replicant_watermarks"),
            self.table("replicant_contracts"),
        );
        let lease = format!(
            "select {LEASE} from {} where slot = $1",
            self.table("replicant_leases")
        );
        let slot = slot.as_str();
        let params: [Param<'_>; 1] = [(&slot, Type::TEXT)];
        let (row, lease) = tokio::try_join!(
            client.query_typed_opt(&sql, &params),
            client.query_typed_opt(&lease, &params),
        )?;
        let Some(row) = row else { return Ok(None) };
        shown(slot, &row, lease.as_ref()).map(Some)
    }

    /// How the contract stored for a slot relates to the declared one, as the next bind would judge it.
    ///
    /// # Errors
    /// `publication_contract_incompatible`; destination faults.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn drift(
        &self,
        client: &Client,
        slot: &SlotName,
        declared: &Manifest,
    ) -> Result<Outcome, Error> {
        let sql = format!(
            "select timeline, manifest, fingerprint from {} where slot = $1",
            self.table("replicant_contracts")
        );
        let row = client
            .query_typed_opt(&sql, &[(&slot.as_str(), Type::TEXT)])
            .await?;
        let stored = row.as_ref().map(Stored::read).transpose()?;
        transition(stored.as_ref(), declared)
    }

    /// How much of each source table the destination holds; every table that is not in it is
    /// [`Completeness::Open`].
    ///
    /// # Errors
    /// `checkpoint_damaged`, destination faults.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn completeness_of(
        &self,
        client: &Client,
        slot: &SlotName,
    ) -> Result<HashMap<QualifiedName, Completeness>, Error> {
        let sql = format!(
            "select source_schema, source_table, completeness from {} where slot = $1",
            self.table("replicant_tables")
        );
        let rows = client
            .query_typed(&sql, &[(&slot.as_str(), Type::TEXT)])
            .await?;
        rows.iter()
            .map(|row| {
                let name = QualifiedName::new(row.try_get(0)?, row.try_get(1)?)
                    .map_err(|_| Reason::CheckpointDamaged)?;
                let value =
                    Completeness::parse(row.try_get(2)?).ok_or(Reason::CheckpointDamaged)?;
                Ok((name, value))
            })
            .collect()
    }

    /// The latest decisions about a slot, newest first.
    ///
    /// # Errors
    /// Destination faults.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn decisions(
        &self,
        client: &Client,
        slot: &SlotName,
    ) -> Result<Vec<Decision>, Error> {
        let sql = format!(
            "select decided_at::pg_catalog.text, decided_by, decision, fact from {} \
             where slot = $1 order by id desc limit $2",
            self.table("replicant_decisions")
        );
        let params: [Param<'_>; 2] = [(&slot.as_str(), Type::TEXT), (&DECISIONS_MAX, Type::INT8)];
        let rows = client.query_typed(&sql, &params).await?;
        rows.iter()
            .map(|row| {
                Ok(Decision {
                    at: row.try_get(0)?,
                    by: row.try_get(1)?,
                    decision: row.try_get(2)?,
                    fact: row.try_get(3)?,
                })
            })
            .collect()
    }
}

fn shown(slot: &str, row: &Row, lease: Option<&Row>) -> Result<Shown, Error> {
    let positions = Positions::read(row, 0)?;
    Ok(Shown {
        system: row.try_get(2)?,
        database: row.try_get(3)?,
        slot: slot.to_owned(),
        watermark: positions.watermark,
        acked_end: positions.acked_end,
        timeline: row.try_get(4)?,
        fingerprint: row.try_get(5)?,
        lease: lease.map(Lease::read).transpose()?,
    })
}
