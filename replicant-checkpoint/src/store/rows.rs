//! What is stored about a slot, read under its locks: always lease, then watermark, then contract.

use replicant_transport::position::{EndLsn, Lsn, Watermark};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bind::Epoch;
use super::lease::{LEASE, Lease};
use super::transaction::BEGIN;
use super::transition::Stored;
use super::{KeyText, Param, Store};
use crate::error::Error;
use crate::reason::Reason;

/// The rows of one slot, locked.
#[derive(Debug)]
pub(super) struct Locked {
    system: String,
    database: String,
    pub(super) positions: Positions,
    pub(super) epoch: Epoch,
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

impl Store {
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
            epoch: Epoch(row.try_get(4)?),
            lease: lease.first().map(Lease::read).transpose()?,
            contract: contract.first().map(Stored::read).transpose()?,
        }))
    }
}
