//! What happened when nobody heard the answer, and what may be acknowledged while nothing happens?

use replicant_transport::error::Site;
use replicant_transport::position::{CommitLsn, EndLsn};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bind::Bound;
use super::committed::Committed;
use super::delivery::no_position;
use super::rows::Positions;
use super::transaction::Open;
use super::{FENCE, Store};
use crate::error::Error;
use crate::reason::Reason;

/// How a commit without an answer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// It is durable, and so is everything this proof covers.
    Committed(Committed),
    /// It never happened and never will: the old session's transaction is over.
    NotCommitted,
}

impl Store {
    /// Finds out how a commit ended whose answer was lost. Use a new connection.
    ///
    /// The old session may still be committing (waiting for a standby, say), and a plain read would then report the
    /// old watermark and be wrong a moment later. The row's lock is what that session holds until it is over, so
    /// this waits for it, at READ COMMITTED, and reads the row as it is then.
    ///
    /// # Errors
    /// `lease_lost` when somebody else bound the slot meanwhile; `checkpoint_contended` when the old session holds
    /// the lock longer than the session's `lock_timeout`: ask again.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing; ask again.
    pub async fn resolve_lost_commit(
        &self,
        client: &Client,
        bound: &Bound,
        commit: CommitLsn,
    ) -> Result<Resolution, Error> {
        let seen = self.warnings.seen();
        let open = Open::new(client);
        let stored = self.lock(client, bound, None).await?;
        // Committing the lock waits for the standby too, if there is one.
        open.commit().await?;
        self.warnings.none_since(seen)?;
        Ok(match (stored.watermark, stored.acked_end) {
            (Some(watermark), Some(acked)) if watermark.covers(commit) => {
                Resolution::Committed(Committed::new(watermark, acked))
            }
            _ => Resolution::NotCommitted,
        })
    }

    /// Records that the stream is idle up to `at`, so that it may be acknowledged. The watermark stays.
    ///
    /// # Errors
    /// `lease_lost` when somebody else bound the slot; `checkpoint_unbound` without a starting position.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether it was recorded; both are correct.
    pub async fn record_idle(
        &self,
        client: &Client,
        bound: &Bound,
        at: EndLsn,
    ) -> Result<Committed, Error> {
        let end = at.lsn().to_bigint().ok_or_else(|| {
            Error::new(
                Reason::CheckpointPositionInvalid,
                Site::none().lsn(at.lsn()),
            )
        })?;
        let sql = format!(
            "update {} set acked_end = greatest(acked_end, $5) where {FENCE} \
             and acked_end is not null returning watermark, acked_end",
            self.table("replicant_watermarks")
        );
        let mut params = bound.fence();
        params.push((&end, Type::INT8));
        let seen = self.warnings.seen();
        let row = client.query_typed_opt(&sql, &params).await?;
        self.warnings.none_since(seen)?;
        let Some(row) = row else {
            return Err(self.why_unlocked(client, bound).await);
        };
        match Positions::read(&row, 0)? {
            Positions {
                watermark: Some(watermark),
                acked_end: Some(acked),
            } => Ok(Committed::new(watermark, acked)),
            _ => Err(no_position()),
        }
    }
}
