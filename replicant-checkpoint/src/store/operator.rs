//! What may a person decide about a checkpoint: adopt, reset, acknowledge a timeline.
//!
//! Every decision is refused while a lease is live, is written to `replicant_decisions` in the same transaction, and
//! changes nothing the second time. Each one that writes also moves the epoch, so that an owner that only seemed
//! dead cannot write after it.

use replicant_transport::error::Site;
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, Watermark};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::rows::{Locked, Positions};
use super::transaction::{BEGIN, Open};
use super::{KEY, Key, KeyText, Store};
use crate::error::Error;
use crate::reason::Reason;

/// Up to where a person vouches that the destination holds everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// Through the transaction with this commit record. The acked end stays open: at the next start whatever the
    /// existing slot has confirmed counts as applied, and a new slot is refused.
    Commit(CommitLsn),
    /// Everything before this END position, for example a slot's `confirmed_flush_lsn`.
    Flush(EndLsn),
}

/// Did a decision change anything?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    /// It did.
    Changed,
    /// What was asked is what was stored.
    AlreadySo,
}

impl Store {
    /// Gives a slot a position it never had.
    ///
    /// # Errors
    /// `checkpoint_adopt_conflict` when another position, or another source, is stored; `slot_already_active`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether it was decided; decide again.
    pub async fn adopt(
        &self,
        client: &mut Client,
        key: &Key,
        position: Position,
    ) -> Result<Decided, Error> {
        let text = key.text();
        let (positions, name, at) = match position {
            Position::Commit(commit) => (
                Positions {
                    watermark: Some(Watermark::at(commit)),
                    acked_end: None,
                },
                "adopt commit",
                commit.lsn(),
            ),
            Position::Flush(end) => (
                Positions {
                    watermark: Some(Watermark::before(end)),
                    acked_end: Some(end),
                },
                "adopt flush",
                end.lsn(),
            ),
        };
        let seen = self.warnings.seen();
        let open = Open::new(client);
        let locked = self.lock_or_insert(open.client(), &text).await?;
        if !locked.belongs_to(&text) {
            return Err(Reason::CheckpointAdoptConflict.into());
        }
        refuse_live(&locked)?;
        match locked.positions {
            stored if stored == positions => return Ok(Decided::AlreadySo),
            Positions {
                watermark: None,
                acked_end: None,
            } => {}
            stored => {
                let lsn = stored.watermark.map(Watermark::lsn);
                return Err(Error::new(
                    Reason::CheckpointAdoptConflict,
                    Site {
                        lsn,
                        ..Site::none()
                    }
                    .fact("another position is stored"),
                ));
            }
        }
        self.set_positions(open.client(), &text, positions).await?;
        self.record(open.client(), &text, name, &at.to_string())
            .await?;
        open.commit().await?;
        self.warnings.none_since(seen)?;
        Ok(Decided::Changed)
    }

    /// Forgets everything about a checkpoint: positions, contract, lease, completeness, claims. The recorded
    /// decisions stay. Whether the slot on the source may still exist is for the caller to decide.
    ///
    /// A row of another source under the same slot is not touched.
    ///
    /// # Errors
    /// `slot_already_active`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether it was decided; decide again.
    pub async fn reset(&self, client: &mut Client, key: &Key) -> Result<Decided, Error> {
        let text = key.text();
        let seen = self.warnings.seen();
        let open = Open::new(client);
        let client = open.client();
        let Some(locked) = self.lock_existing(client, &text).await? else {
            return Ok(Decided::AlreadySo);
        };
        refuse_live(&locked)?;
        for table in [
            "replicant_watermarks",
            "replicant_contracts",
            "replicant_leases",
        ] {
            let sql = format!("delete from {} where {KEY}", self.table(table));
            client.execute_typed(&sql, &text.params()).await?;
        }
        for table in ["replicant_tables", "replicant_targets"] {
            let sql = format!("delete from {} where slot = $1", self.table(table));
            client
                .execute_typed(&sql, &[(&text.slot, Type::TEXT)])
                .await?;
        }
        let was = match locked.positions.watermark {
            Some(watermark) => format!("watermark was {watermark}"),
            None => "no watermark".to_owned(),
        };
        self.record(client, &text, "reset", &was).await?;
        open.commit().await?;
        self.warnings.none_since(seen)?;
        Ok(Decided::Changed)
    }

    /// Accepts that the source continues on another timeline.
    ///
    /// # Errors
    /// `checkpoint_unbound` without a row; `checkpoint_adopt_invalid` when no timeline was ever stored;
    /// `slot_already_active`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether it was decided; decide again.
    pub async fn acknowledge_timeline(
        &self,
        client: &mut Client,
        key: &Key,
        timeline: u32,
    ) -> Result<Decided, Error> {
        let text = key.text();
        let seen = self.warnings.seen();
        let open = Open::new(client);
        let client = open.client();
        let locked = self
            .lock_existing(client, &text)
            .await?
            .ok_or(Reason::CheckpointUnbound)?;
        refuse_live(&locked)?;
        let wanted = i64::from(timeline);
        let Some(contract) = &locked.contract else {
            return Err(Error::new(
                Reason::CheckpointAdoptInvalid,
                Site::none().fact("no timeline is stored"),
            ));
        };
        if contract.timeline == wanted {
            return Ok(Decided::AlreadySo);
        }
        let sql = format!(
            "update {} set timeline = $4 where {KEY}",
            self.table("replicant_contracts")
        );
        let mut params = text.params();
        params.push((&wanted, Type::INT8));
        client.execute_typed(&sql, &params).await?;
        self.set_positions(client, &text, locked.positions).await?;
        let fact = format!("from {} to {timeline}", contract.timeline);
        self.record(client, &text, "acknowledge timeline", &fact)
            .await?;
        open.commit().await?;
        self.warnings.none_since(seen)?;
        Ok(Decided::Changed)
    }

    /// Locks the rows of exactly this key. `None` when there are none, or they are another source's.
    async fn lock_existing(&self, client: &Client, key: &KeyText) -> Result<Option<Locked>, Error> {
        let (begun, format, locked) = tokio::join!(
            biased;
            client.batch_execute(BEGIN),
            self.check_format(client),
            self.lock_rows(client, key),
        );
        begun?;
        format?;
        Ok(locked?.filter(|locked| locked.belongs_to(key)))
    }

    /// Writes both positions and an epoch that nobody holds.
    async fn set_positions(
        &self,
        client: &Client,
        key: &KeyText,
        positions: Positions,
    ) -> Result<(), Error> {
        let bigint = |lsn: Lsn| {
            lsn.to_bigint()
                .ok_or_else(|| Error::new(Reason::CheckpointPositionInvalid, Site::none().lsn(lsn)))
        };
        let watermark = positions.watermark.map(Watermark::lsn).map(bigint);
        let acked = positions.acked_end.map(EndLsn::lsn).map(bigint);
        let (watermark, acked) = (watermark.transpose()?, acked.transpose()?);
        let sql = format!(
            "update {} set watermark = $4, acked_end = $5, epoch = {} where {KEY}",
            self.table("replicant_watermarks"),
            self.next_epoch(),
        );
        let mut params = key.params();
        params.push((&watermark, Type::INT8));
        params.push((&acked, Type::INT8));
        client.execute_typed(&sql, &params).await?;
        Ok(())
    }

    async fn record(
        &self,
        client: &Client,
        key: &KeyText,
        decision: &str,
        fact: &str,
    ) -> Result<(), Error> {
        let sql = format!(
            "insert into {} (system_id, database, slot, decision, fact) values ($1, $2, $3, $4, $5)",
            self.table("replicant_decisions")
        );
        let mut params = key.params();
        params.push((&decision, Type::TEXT));
        params.push((&fact, Type::TEXT));
        client.execute_typed(&sql, &params).await?;
        Ok(())
    }
}

fn refuse_live(locked: &Locked) -> Result<(), Error> {
    match &locked.lease {
        Some(lease) if lease.is_live() => Err(Reason::SlotAlreadyActive.into()),
        _ => Ok(()),
    }
}
