//! Is this transaction still to be applied, and is what was applied durable?
//!
//! [`Store::begin`] is the one place that opens a destination transaction for rows. Its first statement locks the
//! watermark row **where the epoch is ours**: no row, no delivery. The lock lasts until the transaction ends, so
//! deliveries of one checkpoint follow one another, and a new owner waits for the old one's last.

use std::fmt;

use replicant_transport::connect::Claims;
use replicant_transport::error::Site;
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, Watermark};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

use super::bind::Bound;
use super::committed::{CommitWarnings, Committed, Seen};
use super::rows::Positions;
use super::statements::{Prepared, at_most_one};
use super::transaction::{BEGIN, Open};
use super::{FENCE, KEY, Store};
use crate::error::Error;
use crate::reason::Reason;
use crate::store::Fault;

/// What to do with a source transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// Its effects are still to come.
    Apply,
    /// The watermark covers it; applying it again would repeat its effects.
    AlreadyApplied,
}

/// Why a delivery did not become durable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommitFailure {
    /// The answer was lost, or a synchronous standby did not confirm: it may or may not have happened. Ask
    /// [`Store::resolve_lost_commit`] on a new connection.
    Unknown,
    /// It did not happen; nothing of the delivery is left. A refusal of the server claims what it is about.
    RolledBack(Error, Claims),
}

/// One open destination transaction that holds the watermark's lock.
///
/// Dropping it queues a ROLLBACK on its connection, so that nothing the connection does next can join it.
#[must_use = "a delivery that is not committed is rolled back"]
pub struct Delivery<'c> {
    open: Open<'c>,
    store: Store,
    bound: Bound,
    advance: Option<Statement>,
    watermark: Option<Watermark>,
    acked_end: EndLsn,
}

impl fmt::Debug for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("watermark", &self.watermark)
            .field("acked_end", &self.acked_end)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a delivery and locks the watermark, in one round trip.
    ///
    /// # Errors
    /// `lease_lost` when somebody else bound the slot; `checkpoint_unbound` when the row is gone or has no starting
    /// position; destination faults.
    ///
    /// # Cancel safety
    /// Dropping the future queues a ROLLBACK.
    pub async fn begin<'c>(
        &self,
        client: &'c Client,
        bound: &Bound,
    ) -> Result<Delivery<'c>, Error> {
        self.open_delivery(client, bound, None).await
    }

    /// The same with statements prepared on this very connection: less work for the server.
    ///
    /// # Errors
    /// As [`Store::begin`].
    ///
    /// # Cancel safety
    /// Dropping the future queues a ROLLBACK.
    pub async fn begin_prepared<'c>(
        &self,
        client: &'c Client,
        bound: &Bound,
        prepared: &Prepared,
    ) -> Result<Delivery<'c>, Error> {
        self.open_delivery(client, bound, Some(prepared)).await
    }

    async fn open_delivery<'c>(
        &self,
        client: &'c Client,
        bound: &Bound,
        prepared: Option<&Prepared>,
    ) -> Result<Delivery<'c>, Error> {
        let open = Open::new(client);
        let positions = self.lock(client, bound, prepared).await?;
        let acked_end = positions.acked_end.ok_or_else(no_position)?;
        Ok(Delivery {
            open,
            store: self.clone(),
            bound: bound.clone(),
            advance: prepared.map(|prepared| prepared.advance.clone()),
            watermark: positions.watermark,
            acked_end,
        })
    }

    /// BEGIN and the fenced lock, pipelined.
    pub(super) async fn lock(
        &self,
        client: &Client,
        bound: &Bound,
        prepared: Option<&Prepared>,
    ) -> Result<Positions, Error> {
        let fence = bound.fence();
        let statement = prepared.map(|prepared| &prepared.lock);
        let (begun, row) = tokio::join!(
            biased;
            client.batch_execute(BEGIN),
            at_most_one(client, statement, &self.statements.lock, &fence),
        );
        begun?;
        match row? {
            Some(row) => Positions::read(&row, 0),
            None => Err(self.why_unlocked(client, bound).await),
        }
    }

    /// No row had our epoch: is it another owner's, or gone?
    pub(super) async fn why_unlocked(&self, client: &Client, bound: &Bound) -> Error {
        let sql = format!(
            "select from {} where {KEY}",
            self.table("replicant_watermarks")
        );
        let key = bound.key().text();
        match client.query_typed_opt(&sql, &key.params()).await {
            Ok(Some(_)) => Reason::LeaseLost.into(),
            Ok(None) => Reason::CheckpointUnbound.into(),
            Err(error) => error.into(),
        }
    }
}

impl<'c> Delivery<'c> {
    /// The connection whose transaction this is.
    pub fn client(&self) -> &'c Client {
        self.open.client()
    }

    /// What is applied, read under the lock. `None` covers nothing.
    pub fn watermark(&self) -> Option<Watermark> {
        self.watermark
    }

    /// What may be acknowledged, read under the lock.
    pub fn acked_end(&self) -> EndLsn {
        self.acked_end
    }

    /// Has the transaction with this commit record been applied?
    pub fn admit(&self, commit: CommitLsn) -> Admission {
        match self.watermark {
            Some(watermark) if watermark.covers(commit) => Admission::AlreadyApplied,
            _ => Admission::Apply,
        }
    }

    /// Moves watermark and acked end in one UPDATE and commits, in one round trip.
    ///
    /// `commit` and `end` are those of the last source transaction that was applied.
    ///
    /// # Errors
    /// [`CommitFailure`] says whether the outcome is known.
    ///
    /// # Cancel safety
    /// Not cancel safe: dropping the future leaves the outcome unknown. Close the connection and resolve it.
    pub async fn commit(self, commit: CommitLsn, end: EndLsn) -> Result<Committed, CommitFailure> {
        let moved = match self.next(commit, end) {
            Ok(moved) => moved,
            Err(error) => {
                // The guard's ROLLBACK follows when it is dropped; the outcome does not depend on its answer.
                return Err(CommitFailure::RolledBack(error, Claims::default()));
            }
        };
        let seen = self.store.warnings.seen();
        let mut params = self.bound.fence();
        params.push((&moved.watermark, Type::INT8));
        params.push((&moved.acked_end, Type::INT8));
        let client = self.open.client();
        let (advanced, committed) = tokio::join!(
            biased;
            at_most_one(client, self.advance.as_ref(), &self.store.statements.advance, &params),
            client.batch_execute("commit"),
        );
        drop(params);
        if let Err(error) = &advanced
            && error.code() == Some(&SqlState::DIVISION_BY_ZERO)
        {
            // Only a statement of this very transaction can have taken the locked row away.
            self.open.ended();
            let damaged = Reason::CheckpointDamaged.into();
            return Err(CommitFailure::RolledBack(damaged, Claims::default()));
        }
        let committed = advanced.map(drop).and(committed);
        let durable = Committed::new(
            Watermark::at(commit),
            if end > self.acked_end {
                end
            } else {
                self.acked_end
            },
        );
        self.finish(committed, seen, durable)
    }

    /// Ends a delivery in which everything was already applied: proof of what is durable.
    ///
    /// `end` is that of the last source transaction that was found applied. An adopted position covers transactions
    /// whose ends nobody recorded, so it moves the acked end if that lies before it.
    ///
    /// It commits also when it wrote nothing: the lock alone makes the server write a commit record, so a
    /// synchronous standby has confirmed everything before it once this returns.
    ///
    /// # Errors
    /// `checkpoint_unbound` when no watermark is stored; destination faults. Whether the acked end moved does not
    /// matter then: confirm again in a new delivery.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether it was recorded; both are correct.
    pub async fn confirm(self, end: EndLsn) -> Result<Committed, Error> {
        let watermark = self.watermark.ok_or_else(no_position)?;
        let acked_end = self.acked_end.max(end);
        if acked_end > self.acked_end {
            self.record_end(acked_end).await?;
        }
        let seen = self.store.warnings.seen();
        self.open.commit().await?;
        self.store.warnings.none_since(seen)?;
        Ok(Committed::new(watermark, acked_end))
    }

    async fn record_end(&self, end: EndLsn) -> Result<(), Error> {
        let at = end.lsn().to_bigint().ok_or_else(|| {
            Error::new(
                Reason::CheckpointPositionInvalid,
                Site::none().lsn(end.lsn()),
            )
        })?;
        let sql = format!(
            "update {} set acked_end = $5 where {FENCE}",
            self.store.table("replicant_watermarks")
        );
        let mut params = self.bound.fence();
        params.push((&at, Type::INT8));
        match self.open.client().execute_typed(&sql, &params).await? {
            1 => Ok(()),
            // Only a statement of this very transaction can have taken the locked row away.
            _ => Err(Reason::CheckpointDamaged.into()),
        }
    }

    /// Undoes everything since `begin`.
    ///
    /// # Errors
    /// Destination faults; the transaction is over in any case once the connection is closed.
    pub async fn rollback(self) -> Result<(), Error> {
        self.open.rollback().await
    }

    fn finish(
        self,
        answer: Result<(), tokio_postgres::Error>,
        seen: Seen,
        durable: Committed,
    ) -> Result<Committed, CommitFailure> {
        let warnings: CommitWarnings = self.store.warnings();
        let claims = answer.as_ref().err().map(Claims::of).unwrap_or_default();
        match answer.map_err(Fault::from) {
            Ok(()) => {
                self.open.ended();
                warnings
                    .none_since(seen)
                    .map_err(|_| CommitFailure::Unknown)?;
                Ok(durable)
            }
            // The session may have died after the server committed and before it said so.
            Err(Fault::ConnectionLost | Fault::Refused(None)) => Err(CommitFailure::Unknown),
            Err(fault) => {
                self.open.ended();
                Err(CommitFailure::RolledBack(fault.into(), claims))
            }
        }
    }

    fn next(&self, commit: CommitLsn, end: EndLsn) -> Result<Moved, Error> {
        let invalid =
            |lsn: Lsn| Error::new(Reason::CheckpointPositionInvalid, Site::none().lsn(lsn));
        if self.admit(commit) == Admission::AlreadyApplied || end.lsn() <= commit.lsn() {
            return Err(invalid(commit.lsn()));
        }
        let bigint = |lsn: Lsn| lsn.to_bigint().ok_or_else(|| invalid(lsn));
        Ok(Moved {
            watermark: bigint(commit.lsn())?,
            acked_end: bigint(end.lsn())?,
        })
    }
}

struct Moved {
    watermark: i64,
    acked_end: i64,
}

pub(super) fn no_position() -> Error {
    Error::new(
        Reason::CheckpointUnbound,
        Site::none().fact("no starting position is stored"),
    )
}
