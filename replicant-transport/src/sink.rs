//! The contract with the layer above: who drives whom, in which order, and what each answer means.
//!
//! The pipeline calls one sink from one task, never two methods at once. On every connect:
//!
//! ```text
//! bind(session) ─► origin(slot) ─► { relation | begin ─► changes* ─► (commit | abort) | settle }*
//! ```
//!
//! - **A transaction arrives in pieces.** `changes` may be called any number of times between `begin` and `commit`;
//!   memory stays bounded whatever its size. Nothing is real before `commit`: when the session ends first,
//!   `abort` (or the next `bind`) says so and everything since `begin` must be undone.
//! - **Applying may lag behind.** `commit` may return before the transaction is durable; the sink reports
//!   durability through [`Feedback`] when it is. While the sink's own limits are reached, its methods wait; the
//!   pipeline keeps answering the server meanwhile.
//! - **Redelivery is normal.** After any reconnect transactions that are already durable may come again. The sink
//!   decides by its own watermark, under its own lock.
//! - **A call may be dropped.** A stop lets a call finish within [`Limits::stop`](crate::pipeline::Limits::stop) and
//!   then drops its future, also that of `abort`, `drain` or `settle`; the pipeline then reports `stop_timed_out`.
//!   A sink survives that as it survives a broken connection: what was not durable comes again.
//! - **An error is final** unless its class is transient, in which case the pipeline reconnects and binds again.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::mpsc;

use crate::ack::{Durable, IdlePoint, Receipt};
use crate::change::Change;
use crate::ident::QualifiedName;
use crate::position::{CommitLsn, EndLsn, Watermark};
use crate::reason::Class;
use crate::relation::Relation;
use crate::source::{Session, Slot};

/// What every sink error can say about itself.
pub trait SinkError: fmt::Display + fmt::Debug + Clone + Send + Sync + 'static {
    /// Stable code of the reason.
    fn code(&self) -> &'static str;
    /// Retry, stop, or ask a person.
    fn class(&self) -> Class;
}

/// Text or binary values; one switch for a whole stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ValueFormat {
    /// Every value is the type's text output.
    Text,
    /// Types with a send function arrive in binary, the others as text (PostgreSQL 14 and later).
    Binary,
}

/// What the sink remembers of this source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resume {
    /// What is applied. `None` before the first transaction of a new checkpoint.
    pub watermark: Option<Watermark>,
    /// The highest END position it was entitled to acknowledge. `None` when nothing was ever acknowledged. Only
    /// without both positions may the pipeline create the slot.
    pub acked_end: Option<EndLsn>,
    /// How values should travel.
    pub format: ValueFormat,
}

/// Where a transaction begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begin {
    /// START of its commit record. `None` while the source transaction is still in progress (streamed).
    pub commit_lsn: Option<CommitLsn>,
    /// When it committed, by the source's clock, which is not monotone. `None` while it is still in progress.
    pub committed_at: Option<SystemTime>,
    /// The source's transaction id.
    pub xid: u32,
}

/// How a table's description changed during a session.
#[derive(Clone, Debug)]
pub struct RelationSeen {
    /// What the server announced; the rows that follow are decoded with it.
    pub relation: Arc<Relation>,
    /// What it had announced before in this session, when that was different.
    pub previous: Option<Arc<Relation>>,
    /// START of the commit record of the transaction it was announced in: rows of this shape were written before that.
    /// `None` while the source transaction is still in progress (streamed), and outside of any.
    pub commit_lsn: Option<CommitLsn>,
}

/// May a table stop being published while the pipeline runs?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Membership {
    /// No: changes to it would be missed.
    Required,
    /// Yes: nothing is made of it.
    Optional,
}

/// A destination of source transactions.
///
/// The methods are called in the order drawn in the [module documentation](self).
pub trait Sink: Send + 'static {
    /// Why this sink stops.
    type Error: SinkError;

    /// Checks who the source is and what it publishes, binds the checkpoint and forgets everything undelivered of
    /// an earlier session.
    ///
    /// # Errors
    /// Any mismatch between what was declared and what was found. Nothing has been created on the source yet.
    fn bind(
        &mut self,
        session: &Session,
        feedback: Feedback<Self::Error>,
    ) -> impl Future<Output = Result<Resume, Self::Error>> + Send;

    /// Must this published table stay published? Asked after `bind`, for every table of the session.
    fn membership(&self, _table: &QualifiedName) -> Membership {
        Membership::Required
    }

    /// Compares the slot with the checkpoint, makes the starting positions durable and says where to stream from.
    ///
    /// # Errors
    /// When the slot has moved past what the sink made durable, or is not the one it was bound to.
    fn origin(&mut self, slot: &Slot) -> impl Future<Output = Result<EndLsn, Self::Error>> + Send;

    /// A table is described for the first time in this session, or differently than before.
    ///
    /// # Errors
    /// When the table is unknown or its new shape is not acceptable. No row with that shape has been delivered.
    fn relation(
        &mut self,
        seen: RelationSeen,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// A transaction begins.
    ///
    /// # Errors
    /// Why the sink stops.
    fn begin(&mut self, begin: Begin) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// More changes of the open transaction, in order.
    ///
    /// # Errors
    /// Why the sink stops.
    fn changes(
        &mut self,
        batch: Vec<Change>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The open transaction is whole. The receipt is settled once its effects are durable.
    ///
    /// # Errors
    /// Why the sink stops.
    fn commit(&mut self, receipt: Receipt) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The open transaction will not be finished in this session; undo everything since `begin`.
    ///
    /// # Errors
    /// Why the sink stops.
    fn abort(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Everything delivered is settled and the source is quiet: record how far that reaches, durably.
    ///
    /// # Errors
    /// Why the sink stops.
    fn settle(
        &mut self,
        idle: IdlePoint,
    ) -> impl Future<Output = Result<Option<Durable>, Self::Error>> + Send;

    /// The source has sent everything it had. What was committed is better written now than gathered with more.
    ///
    /// A hint, given after the calls it is about: a sink that gathers must not wait for it for ever, since a source
    /// that is read slowly never catches up. The default does nothing.
    fn lull(&mut self) {}

    /// A stop was requested: make everything committed durable and drop what was not. At most one
    /// [`settle`](Self::settle) follows before the sink is dropped.
    ///
    /// # Errors
    /// Why finishing failed; what was not durable will come again.
    fn drain(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// What a sink tells the pipeline while it works: durability, or that it stopped on its own.
#[derive(Debug)]
pub enum Report<E> {
    /// Everything up to this receipt's end is durable.
    Durable(Durable),
    /// The sink's own task failed; no further call will succeed.
    Stopped(E),
}

/// The sink's line to the pipeline, valid for one session. Sending after the session ended is harmless.
///
/// A sink keeps it, or gives it to its own task, as long as it works: when the last clone is dropped the session ends
/// with `sink_task_ended`, because nobody is left who could report anything.
#[derive(Debug)]
pub struct Feedback<E> {
    reports: mpsc::UnboundedSender<Report<E>>,
}

impl<E> Clone for Feedback<E> {
    fn clone(&self) -> Self {
        Self {
            reports: self.reports.clone(),
        }
    }
}

impl<E> Feedback<E> {
    /// A line and its receiving end. The pipeline makes one per session; tests of sinks make their own.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<Report<E>>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        (Self { reports }, receiver)
    }

    /// Reports durability. Order does not matter; the pipeline keeps the highest.
    pub fn durable(&self, durable: Durable) {
        // A closed channel means the session ended; the durable position is read again at the next bind.
        let _ = self.reports.send(Report::Durable(durable));
    }

    /// Reports that the sink stopped outside of a call.
    pub fn stopped(&self, error: E) {
        let _ = self.reports.send(Report::Stopped(error));
    }
}
