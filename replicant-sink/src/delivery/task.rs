//! The delivery task: takes what is queued, applies it in one destination transaction, proves it, reports it.
//!
//! The task owns the destination connection and is never dropped while a COMMIT is under way: a stop closes the
//! queue and waits for it. What each failure means:
//!
//! | failure | a group | a large transaction |
//! | --- | --- | --- |
//! | contention (40001, 40P01, 55P03) | the whole group again, six times, with jitter | the source sends it again |
//! | connection lost | connect again, without limit, then the whole group again | the source sends it again |
//! | answer to COMMIT lost | the watermark row decides, read under its lock | the same |
//! | anything else, group of several | roll back, apply one by one: the watermark stops before the poison one | halt |
//! | anything else, group of one | halt | halt |

mod group;
mod large;

use std::sync::Arc;
use std::time::{Duration, Instant};

use replicant_checkpoint::store::{Admission, Bound, Committed, Resolution, Store};
use replicant_transport::ack::Receipt;
use replicant_transport::error::Site;
use replicant_transport::position::{CommitLsn, EndLsn};
use replicant_transport::reason::Class;
use replicant_transport::sink::Feedback;
use tokio::sync::watch;

use super::destination::{Connected, Destination, jittered};
use super::failpoint::{Step, pass};
use super::failure::Attempt;
use super::progress::Progress;
use super::queue::{Queue, Whole, Work};
use crate::admission::LateTenants;
use crate::apply::{Applied, Applier};
use crate::error::Error;
use crate::generation::Generation;
use crate::hooked::Stage;
use crate::plan::{Completeness, Piece};
use crate::reason::Reason;
use crate::telemetry::{GroupFacts, Telemetry};
use group::{Group, Todo, look_ahead, split, split_covered};

/// How often a group is applied again after contention before delivery gives up.
const CONTENTION_RETRIES_MAX: u32 = 6;
/// First pause after contention; it doubles from here, with full jitter.
const CONTENTION_DELAY_FIRST: Duration = Duration::from_millis(50);
/// Longest pause after contention.
const CONTENTION_DELAY_MAX: Duration = Duration::from_secs(5);

/// Pause after the second connection in a row that broke; it doubles from here, with full jitter.
const LOST_DELAY_FIRST: Duration = Duration::from_millis(50);
/// Longest pause between connections that break.
const LOST_DELAY_MAX: Duration = Duration::from_secs(30);

/// Everything the task works with.
pub(crate) struct Delivery {
    pub(crate) destination: Destination,
    pub(crate) store: Store,
    pub(crate) bound: Bound,
    pub(crate) mirror: Admitted,
    /// What runs before anything is planned.
    pub(crate) stage: Stage,
    pub(crate) queue: Arc<Queue>,
    pub(crate) feedback: Feedback<Error>,
    pub(crate) telemetry: Telemetry,
    pub(crate) progress: watch::Sender<Progress>,
    /// Taken and planned while the group before it was committed.
    pub(crate) ahead: Option<Group>,
}

/// Tells everybody how the task ended, also when it panics.
struct Outcome {
    queue: Arc<Queue>,
    feedback: Feedback<Error>,
    telemetry: Telemetry,
    /// The error it ended with; set in advance to what a panic means.
    ended: Option<Error>,
}

impl Drop for Outcome {
    fn drop(&mut self) {
        if let Some(error) = self.ended.take() {
            self.telemetry.halted(&error);
            self.queue.fail(error.clone());
            self.feedback.stopped(error);
        }
    }
}

/// What admission proved, from which every session's statements are made.
pub(crate) struct Admitted {
    pub(crate) generation: Arc<Generation>,
    pub(crate) completeness: Arc<[Completeness]>,
    /// Admits the tables of tenants that come later.
    pub(crate) late: Option<Arc<LateTenants>>,
}

impl Admitted {
    fn applier(&self) -> Applier {
        Applier::new(Arc::clone(&self.generation), Arc::clone(&self.completeness))
            .admitting(self.late.clone())
    }
}

/// Where a group ends.
#[derive(Clone, Copy)]
struct End {
    commit_lsn: CommitLsn,
    end_lsn: EndLsn,
}

impl End {
    fn of(receipt: &Receipt) -> Self {
        Self {
            commit_lsn: receipt.commit_lsn(),
            end_lsn: receipt.end_lsn(),
        }
    }
}

impl Delivery {
    /// Works until the queue is closed. A failure is left in the queue, reported to the transport, and ends the task.
    ///
    /// A panic is a failure too: whoever waits for the queue would otherwise wait for ever.
    pub(crate) async fn run(mut self) {
        let mut outcome = Outcome {
            queue: Arc::clone(&self.queue),
            feedback: self.feedback.clone(),
            telemetry: self.telemetry.clone(),
            ended: Some(Reason::DeliveryInterrupted.into()),
        };
        outcome.ended = self.work().await.err();
    }

    async fn work(&mut self) -> Result<(), Error> {
        loop {
            if let Some(Group { planned, receipts }) = self.ahead.take() {
                self.together(Todo::Planned(&planned), receipts).await?;
                continue;
            }
            match self.queue.next().await {
                Work::Closed => return Ok(()),
                Work::Group(group) => self.group(group).await?,
                Work::Part(part) => self.large(part).await?,
                Work::Idle(point, answer) => {
                    let committed = self.record_idle(point.end_lsn()).await?;
                    pass(Step::IdleRecorded);
                    // The receiver is gone only when the session ended; the recorded position is read at the next bind.
                    let _ = answer.send(Ok(point.settle(&committed)));
                }
            }
        }
    }

    /// One group, up to the first transaction that a hook refuses.
    async fn group(&mut self, group: Vec<Whole>) -> Result<(), Error> {
        pass(Step::GroupTaken);
        let (mut pieces, mut receipts): (Vec<Piece>, Vec<Receipt>) =
            group.into_iter().map(split).unzip();
        let refused = self.stage.prepare_all(&mut pieces);
        if let Some((first, _)) = refused {
            pieces.truncate(first);
            receipts.truncate(first);
        }
        self.together(Todo::Pieces(&pieces), receipts).await?;
        match refused {
            None => Ok(()),
            Some((_, error)) => Err(error),
        }
    }

    /// Together if possible, one by one if one of them cannot be applied.
    async fn together(&mut self, todo: Todo<'_>, receipts: Vec<Receipt>) -> Result<(), Error> {
        let Some(end) = receipts.last().map(End::of) else {
            return Ok(());
        };
        let pieces = todo.pieces();
        match self.apply(todo, end).await {
            Ok(committed) => {
                self.report(receipts, &committed);
                Ok(())
            }
            Err(error) if pieces.len() > 1 && error.class() != Class::Transient => {
                for (piece, receipt) in pieces.iter().zip(receipts) {
                    let end = End::of(&receipt);
                    let alone = Todo::Pieces(std::slice::from_ref(piece));
                    let committed = self.apply(alone, end).await?;
                    self.report(vec![receipt], &committed);
                }
                // Each applied alone: together they met a conflict that their own order does not have.
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Applies pieces until it is known whether they took effect.
    async fn apply(&mut self, todo: Todo<'_>, end: End) -> Result<Committed, Error> {
        let mut contended = 0;
        let mut delay = CONTENTION_DELAY_FIRST;
        let mut lost = 0;
        let mut lost_delay = Duration::ZERO;
        loop {
            let attempt = match self.attempt(todo, end).await {
                Ok(committed) => return Ok(committed),
                Err(attempt) => attempt,
            };
            match attempt {
                Attempt::Stop(error) => {
                    // A transaction that failed half-way is never continued: the server undoes it with its session.
                    self.disconnect();
                    return Err(error);
                }
                Attempt::Contended(state) => {
                    contended += 1;
                    if contended > CONTENTION_RETRIES_MAX {
                        let site = Site::none().sqlstate(Some(state));
                        return Err(Error::new(Reason::DestinationContended, site));
                    }
                    let pause = jittered(delay);
                    self.telemetry
                        .retried(Reason::DestinationContended.code(), contended, pause);
                    tokio::time::sleep(pause).await;
                    delay = (delay * 2).min(CONTENTION_DELAY_MAX);
                }
                Attempt::Lost => {
                    self.disconnect();
                    // A broken connection is usually an accident and the first new one works. One that breaks again
                    // and again, such as a statement that a server dies of, must not be tried in a tight loop.
                    lost += 1;
                    let pause = jittered(lost_delay);
                    self.telemetry
                        .retried(Reason::DestinationUnreachable.code(), lost, pause);
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.queue.ending() => {}
                    }
                    lost_delay = (lost_delay * 2).clamp(LOST_DELAY_FIRST, LOST_DELAY_MAX);
                    reachable(&mut self.destination, &self.queue).await?;
                }
                Attempt::AnswerLost => {
                    self.disconnect();
                    self.telemetry.commit_lost(end.commit_lsn);
                    if let Some(committed) = self.resolve(end).await? {
                        return Ok(committed);
                    }
                }
            }
        }
    }

    /// One try: lock, drop what already took effect, apply, advance, commit.
    async fn attempt(&mut self, todo: Todo<'_>, end: End) -> Result<Committed, Attempt> {
        let started = Instant::now();
        let session = self
            .destination
            .session()
            .await
            .map_err(Attempt::connecting)?;
        let tools = session.tools(&self.store, || self.mirror.applier()).await?;
        let delivery = self
            .store
            .begin_prepared(tools.client, &self.bound, tools.prepared)
            .await?;
        pass(Step::Opened);
        let (covered, open) = split_covered(todo.pieces(), |at| {
            delivery.admit(at) == Admission::AlreadyApplied
        });
        if open.is_empty() {
            return Ok(delivery.confirm(end.end_lsn).await?);
        }
        let applied = async {
            tools.applier.open(delivery.client()).await?;
            match todo {
                Todo::Planned(planned) if covered.is_empty() => {
                    tools
                        .applier
                        .apply_planned(delivery.client(), planned)
                        .await
                }
                _ => tools.applier.apply(delivery.client(), open).await,
            }
        };
        let applied = match applied.await {
            Ok(applied) => applied,
            Err(failure) => {
                // When even the rollback fails the session is lost, which the next statement will find out.
                let _ = delivery.rollback().await;
                return Err(failure.into());
            }
        };
        pass(Step::Applied);
        let (committed, ()) = tokio::join!(
            biased;
            delivery.commit(end.commit_lsn, end.end_lsn),
            look_ahead(&self.queue, &self.stage, tools.applier, &mut self.ahead),
        );
        let written = tools.applier.generation();
        let committed = committed.map_err(|failure| Attempt::committing(failure, written))?;
        pass(Step::Committed);
        self.committed(
            end,
            GroupFacts::new(open.len(), covered.len(), &applied),
            &applied,
            started,
        );
        Ok(committed)
    }

    /// Records an idle position, connecting again as long as it takes.
    async fn record_idle(&mut self, at: EndLsn) -> Result<Committed, Error> {
        loop {
            let session = reachable(&mut self.destination, &self.queue).await?;
            match self
                .store
                .record_idle(session.client(), &self.bound, at)
                .await
            {
                Ok(committed) => return Ok(committed),
                Err(error) => self.before_asking_again(error).await?,
            }
        }
    }

    /// Did the commit whose answer was lost take effect? Asked on a new connection, under the row's lock.
    async fn resolve(&mut self, end: End) -> Result<Option<Committed>, Error> {
        loop {
            let session = reachable(&mut self.destination, &self.queue).await?;
            match self
                .store
                .resolve_lost_commit(session.client(), &self.bound, end.commit_lsn)
                .await
            {
                Ok(Resolution::Committed(committed)) => return Ok(Some(committed)),
                Ok(Resolution::NotCommitted) => return Ok(None),
                Err(error) => self.before_asking_again(error).await?,
            }
        }
    }

    /// A question to the checkpoint failed: lets time pass or drops the session, so that asking again can help.
    async fn before_asking_again(
        &mut self,
        error: replicant_checkpoint::Error,
    ) -> Result<(), Error> {
        match Attempt::from(error) {
            Attempt::Stop(error) => return Err(error),
            Attempt::Contended(_) => {
                tokio::time::sleep(jittered(CONTENTION_DELAY_FIRST)).await;
            }
            Attempt::Lost | Attempt::AnswerLost => self.disconnect(),
        }
        Ok(())
    }

    /// Settles receipts with the proof and tells the transport.
    fn report(&self, receipts: Vec<Receipt>, committed: &Committed) {
        for receipt in receipts {
            if let Some(durable) = receipt.settle(committed) {
                self.feedback.durable(durable);
            }
        }
        pass(Step::Reported);
    }

    fn committed(&self, end: End, facts: GroupFacts, applied: &Applied, started: Instant) {
        self.telemetry
            .committed(end.commit_lsn, facts, started.elapsed());
        self.telemetry.rung(applied.rung);
        self.progress
            .send_modify(|progress| progress.advance(end.commit_lsn, end.end_lsn, facts));
    }

    /// Closes the session, and with it what was prepared on it.
    fn disconnect(&mut self) {
        self.destination.discard();
    }
}

/// The session, waiting without limit while the destination cannot be reached, but no longer than anything is still
/// wanted of it: what is not durable when a session or a pipeline ends comes again.
async fn reachable<'a>(
    destination: &'a mut Destination,
    queue: &Queue,
) -> Result<&'a mut Connected, Error> {
    tokio::select! {
        biased;
        reached = destination.session_when_reachable() => drop(reached?),
        () = queue.ending() => return Err(Reason::DestinationUnreachable.into()),
    }
    destination.session().await
}
