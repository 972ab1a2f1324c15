//! The sink half of a session: takes frames from the queue, makes transactions of them and drives the sink.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::ack::{IdlePoint, Receipt};
use crate::assemble::{Assembler, Event};
use crate::change::Change;
use crate::error::{Error, Site};
use crate::pipeline::idle::{Between, Idle, Urgency};
use crate::pipeline::options::Limits;
use crate::pipeline::pause::Behind;
use crate::pipeline::pump::{Delivery, PumpHandle};
use crate::pipeline::schema_watch::SchemaWatch;
use crate::pipeline::shared::Shared;
use crate::pipeline::status::{Board, Phase, Stopped};
use crate::position::{EndLsn, WalEnd};
use crate::reason::Reason;
use crate::sink::Sink;
use crate::telemetry::{Delivered, Telemetry};
use crate::wire::frame::{Frame, Reply};
use crate::wire::{self, Message};

/// Why the sink half came to an end.
#[derive(Debug)]
pub(super) enum Cut<E> {
    /// A stop was requested.
    Stop,
    /// The socket half ended; it knows why.
    SocketEnded,
    /// This half failed.
    Failed(Stopped<E>),
}

impl<E> From<Error> for Cut<E> {
    fn from(error: Error) -> Self {
        Self::Failed(Stopped::Source(error))
    }
}

/// Does the sink hold a transaction that is not whole?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AtSink {
    NoTransaction,
    OpenTransaction,
}

pub(super) struct Drive<'a, S: Sink> {
    pub(super) sink: &'a mut S,
    pub(super) shared: Arc<Shared>,
    pub(super) handle: PumpHandle,
    pub(super) watch: SchemaWatch,
    pub(super) limits: Limits,
    pub(super) board: &'a Board,
    pub(super) telemetry: &'a Telemetry,
    pub(super) stop: &'a CancellationToken,
    /// How far the source had written when this session began.
    pub(super) wal_end: WalEnd,
    pub(super) state: State,
}

/// Where the session stands.
#[derive(Debug)]
pub(super) struct State {
    assembler: Assembler,
    idle: Idle,
    at_sink: AtSink,
    batch: Vec<Change>,
    batch_bytes: usize,
    delivered: Delivered,
}

impl State {
    pub(super) fn starting_at(start: EndLsn, limits: &Limits) -> Self {
        Self {
            assembler: Assembler::new(),
            idle: Idle::starting_at(start, limits.idle, Instant::now()),
            at_sink: AtSink::NoTransaction,
            batch: Vec::new(),
            batch_bytes: 0,
            delivered: Delivered::default(),
        }
    }

    /// Derived each time it is asked: the assembler and the sink both stand between transactions.
    fn between(&self) -> Between {
        if self.assembler.is_idle() && self.at_sink == AtSink::NoTransaction {
            Between::Transactions
        } else {
            Between::BeginAndCommit
        }
    }
}

impl<S: Sink> Drive<'_, S> {
    /// Runs until a stop, the end of the stream or a failure.
    pub(super) async fn run(&mut self) -> Cut<S::Error> {
        loop {
            if let Err(cut) = self.step().await {
                return cut;
            }
        }
    }

    async fn step(&mut self) -> Result<(), Cut<S::Error>> {
        let wake = {
            let progress = self.shared.progress();
            self.state.idle.wake_at(&progress, self.state.between())
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(Cut::Stop),
            found = self.watch.finding() => return Err(found.into()),
            delivery = self.handle.queue.recv() => match delivery {
                Some(delivery) => self.deliver(delivery).await?,
                None => return Err(Cut::SocketEnded),
            },
            () = self.shared.to_sink.notified() => self.publish(),
            () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
        }
        self.settle_when_due().await
    }

    async fn deliver(&mut self, delivery: Delivery) -> Result<(), Cut<S::Error>> {
        for frame in delivery.frames {
            match frame {
                Frame::Data { payload, .. } => {
                    self.state.delivered.bytes += u64::try_from(payload.len()).unwrap_or(u64::MAX);
                    self.message(wire::decode(payload)?).await?;
                }
                Frame::Keepalive { wal_end, reply, .. } => self.keepalive(wal_end, reply).await?,
            }
        }
        // More may be coming, but nothing is here: what was decoded is not held back for it.
        if self.handle.queue.is_empty() {
            self.hand_over_changes().await?;
            if delivery.behind == Behind::CaughtUp {
                self.sink.lull();
            }
        }
        self.publish();
        Ok(())
    }

    async fn message(&mut self, message: Message) -> Result<(), Cut<S::Error>> {
        if let Message::Relation(relation) = &message {
            self.watch.described(relation.oid).await?;
        }
        match self.state.assembler.feed(message)? {
            Event::None => Ok(()),
            Event::Relation(seen) => {
                self.hand_over_changes().await?;
                patiently(self.stop, self.limits.stop, self.sink.relation(seen)).await
            }
            Event::Begin(begin, change) => {
                patiently(self.stop, self.limits.stop, self.sink.begin(begin)).await?;
                self.state.at_sink = AtSink::OpenTransaction;
                self.change(change).await
            }
            Event::Change(change) => self.change(change).await,
            Event::Commit(receipt) => self.commit(receipt).await,
            Event::Empty(end) => {
                let between = self.state.between();
                self.state.idle.quiet_up_to(end, Urgency::WhenDue, between);
                Ok(())
            }
            Event::StandaloneMessage { message_lsn, .. } => {
                // Messages were not asked for; a server that sends one anyway is not understood.
                let site = Site::none().lsn(message_lsn.lsn());
                let site = site.fact("a logical message that was not asked for");
                Err(Error::new(Reason::StreamOutOfOrder, site).into())
            }
        }
    }

    async fn change(&mut self, change: Change) -> Result<(), Cut<S::Error>> {
        let state = &mut self.state;
        state.delivered.changes += 1;
        state.batch_bytes = state.batch_bytes.saturating_add(change.bytes);
        state.batch.push(change);
        if state.batch_bytes >= self.limits.batch_bytes
            || state.batch.len() >= self.limits.batch_changes
        {
            self.hand_over_changes().await?;
        }
        Ok(())
    }

    async fn hand_over_changes(&mut self) -> Result<(), Cut<S::Error>> {
        if self.state.batch.is_empty() {
            return Ok(());
        }
        self.state.batch_bytes = 0;
        let batch = std::mem::take(&mut self.state.batch);
        patiently(self.stop, self.limits.stop, self.sink.changes(batch)).await
    }

    async fn commit(&mut self, receipt: Receipt) -> Result<(), Cut<S::Error>> {
        self.hand_over_changes().await?;
        let end = receipt.end_lsn();
        self.shared.progress().handing_over(end);
        patiently(self.stop, self.limits.stop, self.sink.commit(receipt)).await?;
        self.state.at_sink = AtSink::NoTransaction;
        self.state.delivered.transactions += 1;
        if end.lsn() >= self.wal_end.lsn() {
            self.board.phase(Phase::Streaming);
        }
        Ok(())
    }

    async fn keepalive(&mut self, wal_end: WalEnd, reply: Reply) -> Result<(), Cut<S::Error>> {
        let urgency = match reply {
            Reply::Requested => Urgency::Now,
            Reply::NotNeeded => Urgency::WhenDue,
        };
        // A keepalive tells how far the server has sent; everything that commits before is delivered by now.
        let at = EndLsn::new(wal_end.lsn());
        let between = self.state.between();
        self.state.idle.quiet_up_to(at, urgency, between);
        if between == Between::Transactions && wal_end >= self.wal_end {
            self.board.phase(Phase::Streaming);
        }
        self.settle_when_due().await
    }

    async fn settle_when_due(&mut self) -> Result<(), Cut<S::Error>> {
        let due = {
            let progress = self.shared.progress();
            let between = self.state.between();
            self.state.idle.due(Instant::now(), &progress, between)
        };
        match due {
            Some(at) => self.settle(at).await,
            None => Ok(()),
        }
    }

    async fn settle(&mut self, at: EndLsn) -> Result<(), Cut<S::Error>> {
        // Not counted as handed over before it is proven: an idle point that the sink cannot settle yet must not
        // look like an unproven transaction.
        let settled = patiently(
            self.stop,
            self.limits.stop,
            self.sink.settle(IdlePoint::mint(at)),
        )
        .await?;
        self.state.idle.settled(at, Instant::now());
        if let Some(durable) = settled {
            {
                let mut progress = self.shared.progress();
                progress.handing_over(at);
                progress.durable(durable);
            }
            self.telemetry.idle_advanced();
            self.shared.to_server.notify_one();
            self.publish();
        }
        Ok(())
    }

    /// Gives the sink what it needs to leave in good order: undo what is not whole, finish what is, settle the quiet
    /// part.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the sink as a dead connection would.
    pub(super) async fn leave(&mut self) -> Result<(), S::Error> {
        self.state.batch.clear();
        if self.state.at_sink == AtSink::OpenTransaction {
            self.sink.abort().await?;
        }
        self.sink.drain().await?;
        self.take_in_reports().await;
        let at = {
            let progress = self.shared.progress();
            let between = self.state.between();
            self.state.idle.at_stop(&progress, between)
        };
        if let Some(at) = at {
            let settled = self.sink.settle(IdlePoint::mint(at)).await?;
            if let Some(durable) = settled {
                let mut progress = self.shared.progress();
                progress.handing_over(at);
                progress.durable(durable);
            }
        }
        self.publish();
        Ok(())
    }

    /// Waits until the socket half has taken in every report the sink has sent so far.
    async fn take_in_reports(&mut self) {
        let (done, taken) = tokio::sync::oneshot::channel();
        let sent = self
            .handle
            .control
            .send(super::pump::Control::Sync(done))
            .is_ok();
        if sent {
            // An error means that the socket half ended, and took its reports in before.
            let _ended = timeout(self.limits.stop, taken).await;
        }
    }

    /// Writes the status and the metrics.
    fn publish(&mut self) {
        let delivered = std::mem::take(&mut self.state.delivered);
        let (received, handed_over, durable) = {
            let progress = self.shared.progress();
            (
                progress.wal_end(),
                progress.handed_over(),
                progress.acknowledged(),
            )
        };
        let mut lag_bytes = 0;
        self.board.update(|status| {
            status.received = Some(received);
            status.delivered = Some(handed_over);
            status.durable = Some(durable);
            status.transactions += delivered.transactions;
            status.changes += delivered.changes;
            lag_bytes = status.lag_bytes();
        });
        self.telemetry.delivered(Delivered {
            lag_bytes,
            ..delivered
        });
    }
}

fn failed<E>(error: E) -> Cut<E> {
    Cut::Failed(Stopped::Sink(error))
}

/// Awaits what the sink does to finish, but not for ever.
pub(super) async fn within<E>(
    limit: Duration,
    finishing: impl Future<Output = Result<(), E>>,
) -> Result<(), Stopped<E>> {
    match timeout(limit, finishing).await {
        Ok(outcome) => outcome.map_err(Stopped::Sink),
        Err(_) => Err(Stopped::Source(Reason::StopTimedOut.into())),
    }
}

/// Awaits a sink call. A stop lets it finish within `grace`; then the call is dropped.
pub(super) async fn patiently<T, E>(
    stop: &CancellationToken,
    grace: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, Cut<E>> {
    tokio::pin!(call);
    tokio::select! {
        biased;
        outcome = &mut call => return outcome.map_err(failed),
        () = stop.cancelled() => {}
    }
    match timeout(grace, call).await {
        Ok(outcome) => outcome.map_err(failed),
        Err(_) => Err(Cut::Stop),
    }
}
