//! What the delivery task is given: whole transactions as a group, a part of a large one, an idle position.

use replicant_transport::ack::{Durable, IdlePoint, Receipt};
use replicant_transport::change::Change;
use replicant_transport::sink::Begin;
use tokio::sync::oneshot;

use crate::error::Error;

/// How much one group may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// Changes.
    pub rows_max: usize,
    /// Bytes of the changes' buffers.
    pub bytes_max: usize,
}

impl Default for GroupLimits {
    fn default() -> Self {
        Self {
            rows_max: 20_000,
            bytes_max: 8 * 1024 * 1024,
        }
    }
}

/// A whole source transaction.
#[derive(Debug)]
pub struct Whole {
    /// Its changes, in order.
    pub changes: Vec<Change>,
    /// Its claim to be acknowledged.
    pub receipt: Receipt,
}

/// What the delivery task does next.
#[derive(Debug)]
pub enum Work {
    /// Apply these transactions in one destination transaction.
    Group(Vec<Whole>),
    /// Apply this part of a large transaction in the destination transaction that its first part opened.
    Part(Part),
    /// Record an idle position.
    Idle(IdlePoint, oneshot::Sender<IdleOutcome>),
    /// Nothing more will come: everything whole was taken.
    Closed,
}

/// What became of an idle point; the error is the delivery task's.
pub type IdleOutcome = Result<Option<Durable>, Error>;

/// A part of a transaction that is larger than a group.
#[derive(Debug)]
pub struct Part {
    /// Where the transaction began.
    pub begin: Begin,
    /// The changes of this part.
    pub changes: Vec<Change>,
    /// What follows this part.
    pub end: PartEnd,
}

/// What follows a part.
#[derive(Debug)]
pub enum PartEnd {
    /// More parts.
    More,
    /// The commit.
    Commit(Receipt),
    /// Nothing: the transaction was given up.
    Abort,
}
