//! A transaction that is larger than a group: its parts come one after another into one open destination transaction.
//!
//! It is never tried again here. Its parts are gone when they were applied, so after any failure the source sends it
//! again.

use std::time::{Duration, Instant};

use replicant_checkpoint::store::{Admission, Committed};
use replicant_transport::ack::Receipt;
use replicant_transport::error::Site;
use tokio_postgres::Client;

use super::{Attempt, Delivery, End, reachable};
use crate::apply::Applied;
use crate::delivery::failpoint::{Step, pass};
use crate::delivery::queue::{Part, PartEnd, Queue};
use crate::error::Error;
use crate::plan::Piece;
use crate::reason::Reason;
use crate::telemetry::GroupFacts;

/// How often an open destination transaction that waits is used; well below the session's
/// `idle_in_transaction_session_timeout`.
const WORD_INTERVAL: Duration = Duration::from_secs(15);

impl Delivery {
    /// A transaction larger than a group: every part in one open destination transaction.
    pub(super) async fn large(&mut self, first: Part) -> Result<(), Error> {
        let started = Instant::now();
        let outcome = self.large_attempt(first, started).await;
        match outcome {
            Ok(None) => Ok(()),
            Ok(Some((receipt, committed))) => {
                self.report(vec![receipt], &committed);
                Ok(())
            }
            Err((Attempt::AnswerLost, Some(receipt))) => {
                let end = End::of(&receipt);
                self.disconnect();
                self.telemetry.commit_lost(end.commit_lsn);
                match self.resolve(end).await? {
                    Some(committed) => {
                        self.report(vec![receipt], &committed);
                        Ok(())
                    }
                    None => Err(Reason::LargeTransactionInterrupted.into()),
                }
            }
            Err((attempt, _)) => {
                self.disconnect();
                Err(match attempt {
                    Attempt::Stop(error) => error,
                    Attempt::Contended(state) => Error::new(
                        Reason::LargeTransactionInterrupted,
                        Site::none().sqlstate(Some(state)),
                    ),
                    Attempt::Lost | Attempt::AnswerLost => {
                        Reason::LargeTransactionInterrupted.into()
                    }
                })
            }
        }
    }

    async fn large_attempt(
        &mut self,
        first: Part,
        started: Instant,
    ) -> Result<Option<(Receipt, Committed)>, (Attempt, Option<Receipt>)> {
        let lost = |attempt: Attempt| (attempt, None);
        let session = reachable(&mut self.destination, &self.queue).await;
        let session = session.map_err(Attempt::Stop).map_err(lost)?;
        let tools = session.tools(&self.store, || self.mirror.applier()).await;
        let tools = tools.map_err(Attempt::from).map_err(lost)?;
        let delivery = self
            .store
            .begin_prepared(tools.client, &self.bound, tools.prepared)
            .await;
        let delivery = delivery.map_err(Attempt::from).map_err(lost)?;
        pass(Step::Opened);
        let covered = first
            .begin
            .commit_lsn
            .is_some_and(|at| delivery.admit(at) == Admission::AlreadyApplied);
        let applier = tools.applier;
        if !covered {
            applier
                .open(delivery.client())
                .await
                .map_err(Attempt::from)
                .map_err(lost)?;
        }
        let mut total = Applied::default();
        let mut part = first;
        loop {
            let mut piece = Piece {
                commit_lsn: part.begin.commit_lsn,
                committed_at: part.begin.committed_at,
                xid: Some(part.begin.xid),
                changes: part.changes,
            };
            if !covered && !piece.changes.is_empty() {
                let ready = self.stage.prepare(&mut piece);
                ready.map_err(Attempt::Stop).map_err(lost)?;
                let pieces = std::slice::from_ref(&piece);
                let applied = applier.apply(delivery.client(), pieces).await;
                total.add(&applied.map_err(Attempt::from).map_err(lost)?);
            }
            drop(piece);
            match part.end {
                PartEnd::More => {
                    pass(Step::PartApplied);
                    part = next_part(&self.queue, delivery.client())
                        .await
                        .map_err(lost)?;
                }
                PartEnd::Abort => {
                    delivery
                        .rollback()
                        .await
                        .map_err(Attempt::from)
                        .map_err(lost)?;
                    return Ok(None);
                }
                PartEnd::Commit(receipt) if covered => {
                    let committed = delivery.confirm(receipt.end_lsn()).await;
                    let committed = committed.map_err(Attempt::from).map_err(lost)?;
                    return Ok(Some((receipt, committed)));
                }
                PartEnd::Commit(receipt) => {
                    pass(Step::Applied);
                    let end = End::of(&receipt);
                    return match delivery.commit(end.commit_lsn, end.end_lsn).await {
                        Ok(committed) => {
                            pass(Step::Committed);
                            self.committed(end, GroupFacts::new(1, 0, &total), &total, started);
                            Ok(Some((receipt, committed)))
                        }
                        Err(failure) => {
                            let written = applier.generation();
                            Err((Attempt::committing(failure, written), Some(receipt)))
                        }
                    };
                }
            }
        }
    }
}

/// The next part of a large transaction. Its destination transaction is open meanwhile, and the source may take minutes
/// to find the next published row: a word now and then keeps the server from ending the session as idle.
async fn next_part(queue: &Queue, client: &Client) -> Result<Part, Attempt> {
    loop {
        tokio::select! {
            biased;
            part = queue.next_part() => return Ok(part),
            () = tokio::time::sleep(WORD_INTERVAL) => {
                client
                    .batch_execute("")
                    .await
                    .map_err(|error| Attempt::from(replicant_checkpoint::Error::from(error)))?;
            }
        }
    }
}
