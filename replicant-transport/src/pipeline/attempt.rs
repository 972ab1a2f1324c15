//! One session from connect to its end, in the order that keeps identity, slot and checkpoint honest.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::connect::CopyBoth;
use crate::error::{Error, Site};
use crate::ident::QualifiedName;
use crate::pipeline::drive::{Cut, Drive, State, patiently, within};
use crate::pipeline::options::SourceOptions;
use crate::pipeline::pump::{Control, Pump, PumpEnd, Timing};
use crate::pipeline::reader::{ReaderThread, Running};
use crate::pipeline::schema_watch::{Attributes, SchemaWatch};
use crate::pipeline::shared::Shared;
use crate::pipeline::status::{Board, Phase, Stopped};
use crate::pipeline::verdict::Reached;
use crate::position::{EndLsn, Watermark};
use crate::reason::{Class, Reason};
use crate::session::{Found, Opened, Wanted, create_slot, inspect_slot, open, start_replication};
use crate::sink::{Feedback, Membership, Report, Resume, Sink};
use crate::source::{Session, Slot, SlotProvenance};
use crate::telemetry::Telemetry;

/// How a session ended.
#[derive(Debug)]
pub(super) enum Ended<E> {
    /// A stop was requested and everything is in order.
    Stopped,
    /// It failed.
    Failed(Stopped<E>),
    /// A stop was requested, and what was committed could not be finished.
    Unfinished(Stopped<E>),
}

impl<E> From<Error> for Ended<E> {
    fn from(error: Error) -> Self {
        Self::Failed(Stopped::Source(error))
    }
}

/// What outlives a session.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) telemetry: Telemetry,
    /// How far the attempt came, for the decision about the next one.
    pub(super) reached: Reached,
    /// Sessions in a row that ended in silence.
    pub(super) silences: u32,
    /// The server's timeout, once known.
    pub(super) wal_sender_timeout: Option<std::time::Duration>,
    /// What the last session knew about the catalog.
    pub(super) attributes: Attributes,
    /// Was the sink bound at least once, so that it has something to finish?
    pub(super) bound: Bound,
}

/// Was the sink bound at least once?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// Not yet.
    Never,
    /// It was.
    Before,
}

pub(super) struct Attempt<'a, S: Sink> {
    pub(super) options: &'a SourceOptions,
    pub(super) sink: &'a mut S,
    pub(super) board: &'a Board,
    pub(super) carried: &'a mut Carried,
    pub(super) stop: &'a CancellationToken,
}

impl<S: Sink> Attempt<'_, S> {
    /// Runs one session.
    pub(super) async fn run(mut self) -> Ended<S::Error> {
        self.carried.reached = Reached::Commands;
        match self.session().await {
            Ok(never) => match never {},
            Err(ended) => ended,
        }
    }

    async fn session(&mut self) -> Result<std::convert::Infallible, Ended<S::Error>> {
        let opened = self.open().await?;
        let Opened {
            mut replication,
            session,
            ..
        } = opened;
        let (feedback, reports) = Feedback::channel();
        self.carried.bound = Bound::Before;
        let resume = self.call_bind(&session, feedback).await?;
        check_resume(&session, &resume)?;
        let required = self.required(&session);
        let attributes = Attributes::of(&session, &required);
        self.carried.attributes.unchanged_in(&attributes)?;
        self.carried.attributes = attributes;
        let slot = self.slot(&mut replication, &session, &resume).await?;
        let start = self.call_origin(&slot).await?;
        check_start(&session, &slot, start)?;
        // Its caches must not take part in decoding; see the session module.
        drop(replication);
        let reader = ReaderThread::start().map_err(|_| no_thread())?;
        let (connect, facts) = (self.options.connect.clone(), session.clone());
        let mut starting = reader
            .run(async move { start_replication(&connect, &facts, start, resume.format).await });
        let stream = tokio::select! {
            stream = starting.end() => stream.unwrap_or_else(|| Err(no_thread()))?,
            () = self.stop.cancelled() => return Err(Ended::Stopped),
        };
        self.carried.reached = Reached::Streaming;
        self.carried.telemetry.streaming(start);
        self.board.phase(Phase::CatchingUp);
        Err(self
            .stream(&session, required, start, (&reader, stream), reports)
            .await)
    }

    async fn open(&mut self) -> Result<Opened, Ended<S::Error>> {
        let options = self.options;
        let wanted = Wanted {
            slot: &options.slot,
            publications: &options.publications,
            expected: Some(&options.expected),
        };
        let opened = tokio::select! {
            opened = open(&options.connect, wanted) => opened?,
            () = self.stop.cancelled() => return Err(Ended::Stopped),
        };
        self.carried.wal_sender_timeout = opened.wal_sender_timeout;
        self.carried.telemetry.connected(&opened.session);
        self.board.update(|status| status.sessions += 1);
        Ok(opened)
    }

    async fn call_bind(
        &mut self,
        session: &Session,
        feedback: Feedback<S::Error>,
    ) -> Result<Resume, Ended<S::Error>> {
        let grace = self.options.limits.stop;
        let bound = patiently(self.stop, grace, self.sink.bind(session, feedback)).await;
        bound.map_err(ended)
    }

    async fn call_origin(&mut self, slot: &Slot) -> Result<EndLsn, Ended<S::Error>> {
        let grace = self.options.limits.stop;
        let start = patiently(self.stop, grace, self.sink.origin(slot)).await;
        start.map_err(ended)
    }

    async fn slot(
        &mut self,
        replication: &mut crate::connect::Replication,
        session: &Session,
        resume: &Resume,
    ) -> Result<Slot, Ended<S::Error>> {
        let found = inspect_slot(replication, session).await?;
        // Either position says that a slot carried this checkpoint. A new one would not hold what follows it, and
        // would pass for that slot at the next start.
        let positioned = resume.acked_end.map(EndLsn::lsn);
        let positioned = positioned.or(resume.watermark.map(Watermark::lsn));
        match (found, positioned) {
            (Found::Usable { origin }, _) => Ok(Slot {
                name: session.slot.clone(),
                origin,
                provenance: SlotProvenance::Reused,
            }),
            (Found::Absent, Some(at)) => {
                Err(Error::new(Reason::SlotMissing, Site::none().lsn(at)).into())
            }
            (Found::Absent, None) => {
                self.board.phase(Phase::CreatingSlot);
                self.carried.telemetry.creating_slot();
                let connect = &self.options.connect;
                let created = create_slot(replication, connect, session, self.stop).await?;
                let slot = created.ok_or(Ended::Stopped)?;
                self.carried.telemetry.slot_created(slot.origin);
                Ok(slot)
            }
        }
    }

    /// The published tables that the sink needs.
    fn required(&self, session: &Session) -> HashSet<QualifiedName> {
        let names = session.tables.iter().map(|table| &table.name);
        names
            .filter(|name| self.sink.membership(name) == Membership::Required)
            .cloned()
            .collect()
    }

    async fn stream(
        &mut self,
        session: &Session,
        required: HashSet<QualifiedName>,
        start: EndLsn,
        (reader, stream): (&ReaderThread, CopyBoth),
        reports: mpsc::UnboundedReceiver<Report<S::Error>>,
    ) -> Ended<S::Error> {
        let began = Instant::now();
        let limits = self.options.limits;
        let timeout = self.carried.wal_sender_timeout;
        let timing = Timing {
            status_interval: limits.status_interval(timeout),
            silence: limits.silence(timeout, self.carried.silences),
            finish: limits.stop,
        };
        let shared = Arc::new(Shared::starting_at(start));
        let (pump, handle) = Pump::new(
            stream,
            Arc::clone(&shared),
            timing,
            limits.max_inflight,
            reports,
        );
        let mut pump = reader.run(pump.run());
        let mut drive = Drive {
            sink: &mut *self.sink,
            shared: Arc::clone(&shared),
            handle,
            watch: SchemaWatch::start(
                self.options.connect.clone(),
                session,
                required,
                limits.publication_check,
                self.carried.telemetry.clone(),
            ),
            limits,
            board: self.board,
            telemetry: &self.carried.telemetry,
            stop: self.stop,
            wal_end: session.identity.wal_end,
            state: State::starting_at(start, &limits),
        };
        let cut = drive.run().await;
        let ended = leave(&mut drive, &mut pump, cut, self.board).await;
        drop(drive);
        let progressed = shared.progress().handed_over() > start;
        if progressed || began.elapsed() > self.options.retry.cap {
            self.carried.reached = Reached::Progress;
        }
        ended
    }
}

/// Ends a session: in good order when that is possible, at once when the session is to be tried again.
async fn leave<S: Sink>(
    drive: &mut Drive<'_, S>,
    pump: &mut Running<PumpEnd<S::Error>>,
    cut: Cut<S::Error>,
    board: &Board,
) -> Ended<S::Error> {
    let stopped = match cut {
        Cut::Stop => None,
        Cut::Failed(stopped) => Some(stopped),
        // A task that panicked lost the connection with it; else the socket half is finished only on request.
        Cut::SocketEnded => match pump.end().await {
            None | Some(PumpEnd::Finished) => {
                Some(Stopped::Source(Reason::SourceUnreachable.into()))
            }
            Some(PumpEnd::Source(error)) => Some(Stopped::Source(error)),
            Some(PumpEnd::Sink(error)) => Some(Stopped::Sink(error)),
        },
    };
    match stopped {
        // The next bind forgets what is undelivered, and a sink that failed is not asked again.
        Some(Stopped::Sink(error)) => Ended::Failed(Stopped::Sink(error)),
        Some(stopped) if stopped.class() == Class::Transient => Ended::Failed(stopped),
        stopped => {
            if stopped.is_none() {
                board.phase(Phase::Stopping);
            }
            let left = within(drive.limits.stop, drive.leave()).await;
            if drive.handle.control.send(Control::Finish).is_ok() {
                drop(pump.end().await);
            }
            match (stopped, left) {
                // The first cause stays the cause.
                (Some(stopped), _) => Ended::Failed(stopped),
                (None, Err(stopped)) => Ended::Unfinished(stopped),
                (None, Ok(())) => Ended::Stopped,
            }
        }
    }
}

/// Without a thread for the socket there is no connection; the next try may find one.
fn no_thread() -> Error {
    let site = Site::none().fact("no thread could be started for the connection");
    Error::new(Reason::SourceUnreachable, site)
}

fn ended<E>(cut: Cut<E>) -> Ended<E> {
    match cut {
        Cut::Stop => Ended::Stopped,
        Cut::Failed(stopped) => Ended::Failed(stopped),
        Cut::SocketEnded => Reason::SourceUnreachable.into_ended(),
    }
}

impl Reason {
    fn into_ended<E>(self) -> Ended<E> {
        Ended::Failed(Stopped::Source(self.into()))
    }
}

fn check_resume(session: &Session, resume: &Resume) -> Result<(), Error> {
    let wal_end = session.identity.wal_end;
    match resume.watermark {
        Some(watermark) if watermark.is_beyond(wal_end) => Err(behind(wal_end, watermark.lsn())),
        _ => Ok(()),
    }
}

/// A server believes any start and silently skips to it, so it is never asked for one that it has not written.
fn check_start(session: &Session, slot: &Slot, start: EndLsn) -> Result<(), Error> {
    let wal_end = session.identity.wal_end;
    if start.lsn() > wal_end.lsn().max(slot.origin.lsn()) {
        return Err(behind(wal_end, start.lsn()));
    }
    Ok(())
}

fn behind(wal_end: crate::position::WalEnd, applied: crate::position::Lsn) -> Error {
    let fact = format!("the source's WAL ends at {wal_end}");
    Error::new(
        Reason::SourceBehindWatermark,
        Site::none().lsn(applied).fact(fact),
    )
}
