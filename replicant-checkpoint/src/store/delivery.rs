//! Is this transaction still to be applied, and is what was applied durable?
//!
//! [`Store::begin`] is the one place that opens a destination transaction for rows. Its first statement locks the
//! watermark row **where the epoch is ours**: no row, no delivery. The lock lasts until the transaction ends, so
//! deliveries of one checkpoint follow one another, and a new owner waits for the old one's last.

use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, Watermark};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::bind::Bound;
use super::committed::{CommitWarnings, Committed, Seen};
use super::rows::Positions;
use super::transaction::{BEGIN, Open};
use super::{FENCE, KEY, Store};
use crate::error::Error;
use crate::reason::Reason;
use crate::store::Fault;

/// The two statements of every delivery.
#[derive(Debug)]
pub(super) struct Statements {
    lock: String,
    advance: String,
}

impl Statements {
    pub(super) fn new(schema: &Ident) -> Self {
        let table = format!("{}.replicant_watermarks", schema.quoted());
        Self {
            lock: format!("select watermark, acked_end from {table} where {FENCE} for update"),
            // COMMIT travels behind this statement without waiting for its answer. So it must fail, and thereby
            // turn that COMMIT into a ROLLBACK, when it finds no row to move: dividing by the count does.
            advance: format!(
                "with moved as (update {table} set watermark = $5, \
                 acked_end = greatest(acked_end, $6) \
                 where {FENCE} and (watermark is null or watermark < $5) returning 1) \
                 select 1 / pg_catalog.count(*) from moved"
            ),
        }
    }
}

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
    /// It did not happen; nothing of the delivery is left.
    RolledBack(Error),
}

/// One open destination transaction that holds the watermark's lock.
///
/// Dropping it queues a ROLLBACK on its connection, so that nothing the connection does next can join it.
#[derive(Debug)]
#[must_use = "a delivery that is not committed is rolled back"]
pub struct Delivery<'c> {
    open: Open<'c>,
    store: Store,
    bound: Bound,
    watermark: Option<Watermark>,
    acked_end: EndLsn,
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
        let open = Open::new(client);
        let positions = self.lock(client, bound).await?;
        let acked_end = positions.acked_end.ok_or_else(no_position)?;
        Ok(Delivery {
            open,
            store: self.clone(),
            bound: bound.clone(),
            watermark: positions.watermark,
            acked_end,
        })
    }

    /// BEGIN and the fenced lock, pipelined.
    pub(super) async fn lock(&self, client: &Client, bound: &Bound) -> Result<Positions, Error> {
        let fence = bound.fence();
        let (begun, row) = tokio::join!(
            biased;
            client.batch_execute(BEGIN),
            client.query_typed_opt(&self.statements.lock, &fence),
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
        let moved = match self.advance(commit, end) {
            Ok(moved) => moved,
            Err(error) => {
                // The guard's ROLLBACK follows when it is dropped; the outcome does not depend on its answer.
                return Err(CommitFailure::RolledBack(error));
            }
        };
        let seen = self.store.warnings.seen();
        let mut params = self.bound.fence();
        params.push((&moved.watermark, Type::INT8));
        params.push((&moved.acked_end, Type::INT8));
        let client = self.open.client();
        let (advanced, committed) = tokio::join!(
            biased;
            client.query_typed_opt(&self.store.statements.advance, &params),
            client.batch_execute("commit"),
        );
        drop(params);
        if let Err(error) = &advanced
            && error.code() == Some(&SqlState::DIVISION_BY_ZERO)
        {
            // Only a statement of this very transaction can have taken the locked row away.
            self.open.ended();
            return Err(CommitFailure::RolledBack(Reason::CheckpointDamaged.into()));
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
    /// It commits, although it wrote nothing: the lock alone makes the server write a commit record, so a
    /// synchronous standby has confirmed everything before it once this returns.
    ///
    /// # Errors
    /// [`CommitFailure::RolledBack`] with `checkpoint_unbound` when no watermark is stored.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing durable.
    pub async fn confirm(self) -> Result<Committed, CommitFailure> {
        let watermark = self
            .watermark
            .ok_or_else(|| CommitFailure::RolledBack(no_position()))?;
        let seen = self.store.warnings.seen();
        let committed = self.open.client().batch_execute("commit").await;
        let durable = Committed::new(watermark, self.acked_end);
        self.finish(committed, seen, durable)
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
                Err(CommitFailure::RolledBack(fault.into()))
            }
        }
    }

    fn advance(&self, commit: CommitLsn, end: EndLsn) -> Result<Moved, Error> {
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
