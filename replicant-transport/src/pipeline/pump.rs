//! The socket half of a session: reads frames into a bounded queue and answers the server, whatever the sink does.
//!
//! It runs on a thread of its own, and may sleep there. When the queue is full it stops reading and goes on sending status updates, so that
//! a slow sink costs memory up to the limit and never the session.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::BytesMut;
use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::connect::{CopyBoth, CopyReader, CopyWriter};
use crate::error::Error;
use crate::pipeline::feedback::Moved;
use crate::pipeline::pause::{Behind, Pacer};
use crate::pipeline::shared::Shared;
use crate::reason::Reason;
use crate::session::stream_error;
use crate::sink::Report;
use crate::wire::frame::{self, Frame, Reply, StatusUpdate};

/// The most bytes gathered before they are passed on.
const GATHER_BYTES: usize = 256 * 1024;
/// What a frame costs in memory beside its bytes.
const FRAME_BYTES: usize = 96;
/// Durability is reported at most this often, unless the server asks.
const STATUS_PAUSE: Duration = Duration::from_millis(50);

/// Frames that arrived together.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) frames: Vec<Frame>,
    /// Do they end with the server's word that it has sent everything?
    pub(super) behind: Behind,
    /// Room in the queue, given back when the delivery is dropped.
    _room: OwnedSemaphorePermit,
}

/// What the sink half asks of the socket half.
#[derive(Debug)]
pub(super) enum Control {
    /// Take in every report sent so far, then say so.
    Sync(oneshot::Sender<()>),
    /// Send the last status and end the stream.
    Finish,
}

/// Why the socket half ended.
#[derive(Debug)]
pub(super) enum PumpEnd<E> {
    /// It was asked to.
    Finished,
    /// The server or the connection.
    Source(Error),
    /// The sink's own task failed.
    Sink(E),
}

/// The ends of the channels that the sink half holds.
#[derive(Debug)]
pub(super) struct PumpHandle {
    pub(super) queue: mpsc::UnboundedReceiver<Delivery>,
    pub(super) control: mpsc::UnboundedSender<Control>,
}

/// Timing of one session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) status_interval: Duration,
    pub(super) silence: Duration,
    pub(super) finish: Duration,
}

pub(super) struct Pump<E> {
    reader: CopyReader,
    writer: CopyWriter,
    shared: Arc<Shared>,
    timing: Timing,
    capacity: usize,
    room: Arc<Semaphore>,
    queue: mpsc::UnboundedSender<Delivery>,
    reports: mpsc::UnboundedReceiver<Report<E>>,
    control: mpsc::UnboundedReceiver<Control>,
    /// Frames that wait for room in the queue. While there are some, the socket is not read.
    waiting: Option<Gathered>,
    /// Why nothing more will come, kept until what came before is passed on.
    ended: Option<Error>,
    last_status: Instant,
    status_due: Instant,
    last_heard: Instant,
    asked: bool,
    greeting: Reply,
    scratch: BytesMut,
}

#[derive(Debug)]
struct Gathered {
    frames: Vec<Frame>,
    bytes: usize,
    /// As the last frame tells.
    behind: Behind,
}

impl<E> Pump<E> {
    pub(super) fn new(
        stream: CopyBoth,
        shared: Arc<Shared>,
        timing: Timing,
        max_inflight: usize,
        reports: mpsc::UnboundedReceiver<Report<E>>,
    ) -> (Self, PumpHandle) {
        let (reader, writer) = stream.split();
        let (queue, queued) = mpsc::unbounded_channel();
        let (control, controlled) = mpsc::unbounded_channel();
        // A permit is a byte; the semaphore counts no further than this.
        let capacity = max_inflight.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let now = Instant::now();
        let pump = Self {
            reader,
            writer,
            shared,
            timing,
            capacity,
            room: Arc::new(Semaphore::new(capacity)),
            queue,
            reports,
            control: controlled,
            waiting: None,
            ended: None,
            last_status: now,
            // The first status is due at once and asks for an answer: a server that has nothing to send would
            // otherwise not even say that we are caught up.
            status_due: now,
            greeting: Reply::Requested,
            last_heard: now,
            asked: false,
            scratch: BytesMut::new(),
        };
        let handle = PumpHandle {
            queue: queued,
            control,
        };
        (pump, handle)
    }

    /// Runs until the stream ends, fails or is finished.
    pub(super) async fn run(mut self) -> PumpEnd<E> {
        match self.pump().await {
            Ok(end) => end,
            Err(error) => PumpEnd::Source(stream_error(error)),
        }
    }

    async fn pump(&mut self) -> Result<PumpEnd<E>, Error> {
        let mut pacer = Pacer::new(std::time::Instant::now());
        // The first messages, or a refusal, may have come in one piece with the answer to START_REPLICATION.
        self.gather(Ok(0)).await?;
        loop {
            if self.waiting.is_none()
                && let Some(ended) = self.ended.take()
            {
                return Err(ended);
            }
            let reading = self.waiting.is_none();
            let wanted = self.waiting.as_ref().map_or(0, |waiting| waiting.bytes);
            let silent_at = self.silent_at();
            tokio::select! {
                biased;
                Some(control) = self.control.recv() => match control {
                    Control::Sync(done) => {
                        if let Some(end) = self.take_reports() {
                            return Ok(end);
                        }
                        // The other side may have given up waiting.
                        let _gone = done.send(());
                    }
                    Control::Finish => return self.finish().await,
                },
                report = self.reports.recv() => {
                    // The sink itself is still there; what held its line for it is not.
                    let report = report.ok_or(Reason::SinkTaskEnded)?;
                    if let Some(end) = self.take(report) {
                        return Ok(end);
                    }
                }
                () = self.shared.to_server.notified() => self.status_soon(),
                () = sleep_until(self.status_due) => {
                    let reply = std::mem::replace(&mut self.greeting, Reply::NotNeeded);
                    self.send_status(reply).await?;
                }
                room = acquire(&self.room, wanted), if self.waiting.is_some() => self.pass_on(room),
                read = self.reader.fill(), if reading => {
                    let (bytes, behind) = self.gather(read).await?;
                    let now = std::time::Instant::now();
                    if let Some(pause) = pacer.after_read(bytes, behind, now) {
                        // The thread itself sleeps, or every message that arrives would wake it.
                        std::thread::sleep(pause);
                    }
                }
                () = sleep_until(silent_at), if reading => self.ask_or_give_up().await?,
            }
        }
    }

    /// Takes everything that can be had without waiting, up to a full gathering.
    async fn gather(&mut self, read: Result<usize, Error>) -> Result<(usize, Behind), Error> {
        let mut gathered = Gathered {
            frames: Vec::new(),
            bytes: 0,
            behind: Behind::Perhaps,
        };
        let mut total = 0;
        let mut next = read;
        let mut answer = Reply::NotNeeded;
        loop {
            match next {
                Ok(bytes) => total += bytes,
                Err(error) => {
                    self.ended = Some(error);
                    break;
                }
            }
            if let Err(error) = self.cut(&mut gathered, &mut answer) {
                self.ended = Some(error);
                break;
            }
            if total >= GATHER_BYTES {
                break;
            }
            match self.reader.fill().now_or_never() {
                Some(more) => next = more,
                None => break,
            }
        }
        self.last_heard = Instant::now();
        self.asked = false;
        if answer == Reply::Requested {
            self.send_status(Reply::NotNeeded).await?;
        }
        let behind = gathered.behind;
        if !gathered.frames.is_empty() {
            let room = Arc::clone(&self.room);
            let permits = permits(gathered.bytes, self.capacity);
            match room.try_acquire_many_owned(permits) {
                Ok(room) => self.hand_over(gathered, room),
                Err(_) => self.waiting = Some(gathered.at_most(self.capacity)),
            }
        }
        Ok((total, behind))
    }

    /// Cuts what is buffered into frames.
    fn cut(&mut self, gathered: &mut Gathered, answer: &mut Reply) -> Result<(), Error> {
        let mut received = None;
        let outcome = loop {
            let payload = match self.reader.next_copy_data() {
                Ok(Some(payload)) => payload,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let frame = match frame::decode(&payload) {
                Ok(frame) => frame,
                Err(error) => break Err(error),
            };
            let location = match &frame {
                Frame::Data { start, .. } => {
                    gathered.behind = Behind::Perhaps;
                    *start
                }
                Frame::Keepalive { wal_end, reply, .. } => {
                    gathered.behind = Behind::CaughtUp;
                    if *reply == Reply::Requested {
                        *answer = Reply::Requested;
                    }
                    wal_end.lsn()
                }
            };
            received = received.max(Some(location));
            gathered.bytes += payload.len() + FRAME_BYTES;
            gathered.frames.push(frame);
        };
        if let Some(location) = received {
            self.shared.progress().received(location);
        }
        outcome
    }

    fn pass_on(&mut self, room: Option<OwnedSemaphorePermit>) {
        // Silence is counted only while reading.
        self.last_heard = Instant::now();
        if let (Some(gathered), Some(room)) = (self.waiting.take(), room) {
            self.hand_over(gathered, room);
        }
    }

    fn hand_over(&self, gathered: Gathered, room: OwnedSemaphorePermit) {
        // A closed queue means that the session is ending; nothing that is dropped here was acknowledged.
        let _closed = self.queue.send(Delivery {
            frames: gathered.frames,
            behind: gathered.behind,
            _room: room,
        });
    }

    fn take_reports(&mut self) -> Option<PumpEnd<E>> {
        while let Ok(report) = self.reports.try_recv() {
            if let Some(end) = self.take(report) {
                return Some(end);
            }
        }
        None
    }

    fn take(&mut self, report: Report<E>) -> Option<PumpEnd<E>> {
        match report {
            Report::Stopped(error) => Some(PumpEnd::Sink(error)),
            Report::Durable(durable) => {
                let moved = self.shared.progress().durable(durable);
                if moved == Moved::Yes {
                    self.status_soon();
                    self.shared.to_sink.notify_one();
                }
                None
            }
        }
    }

    fn status_soon(&mut self) {
        self.status_due = self.status_due.min(self.last_status + STATUS_PAUSE);
    }

    async fn send_status(&mut self, reply: Reply) -> Result<(), Error> {
        let (received, durable) = {
            let progress = self.shared.progress();
            (progress.wal_end(), progress.flush())
        };
        self.last_status = Instant::now();
        self.status_due = self.last_status + self.timing.status_interval;
        self.scratch.clear();
        let update = StatusUpdate {
            received,
            durable,
            sent_at: SystemTime::now(),
            reply,
        };
        update.encode(&mut self.scratch);
        self.writer.send(&self.scratch).await
    }

    /// When silence calls for a question, or for giving up.
    fn silent_at(&self) -> Instant {
        let patience = if self.asked {
            self.timing.silence
        } else {
            self.timing.silence / 2
        };
        self.last_heard + patience
    }

    /// A server that hears from us often sends nothing of its own, so silence proves nothing until we asked.
    async fn ask_or_give_up(&mut self) -> Result<(), Error> {
        if self.asked {
            return Err(Reason::SourceSilent.into());
        }
        self.asked = true;
        self.send_status(Reply::Requested).await
    }

    /// Ends the stream in good order. What the server still sends is not ours any more.
    async fn finish(&mut self) -> Result<PumpEnd<E>, Error> {
        if let Some(end) = self.take_reports() {
            return Ok(end);
        }
        let patience = self.timing.finish;
        let goodbye = async {
            self.send_status(Reply::NotNeeded).await?;
            self.writer.finish().await?;
            loop {
                while self.reader.next_copy_data()?.is_some() {}
                self.reader.fill().await?;
            }
        };
        // Everything that matters is durable; a server that does not answer in time is left without a farewell.
        let _ended: Result<Result<(), Error>, _> = tokio::time::timeout(patience, goodbye).await;
        Ok(PumpEnd::Finished)
    }
}

impl Gathered {
    /// A single message may exceed the capacity alone; it then fills the queue.
    fn at_most(mut self, capacity: usize) -> Self {
        self.bytes = self.bytes.min(capacity);
        self
    }
}

fn permits(bytes: usize, capacity: usize) -> u32 {
    u32::try_from(bytes.min(capacity)).unwrap_or(u32::MAX)
}

async fn acquire(room: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
    Arc::clone(room).acquire_many_owned(permits).await.ok()
}
