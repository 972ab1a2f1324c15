//! Which messages make one source transaction, and which change is which in it.
//!
//! The [`Assembler`] turns the messages of one session into [`Event`]s, one at a time. It holds no rows: a change
//! leaves the moment its message came in, so a transaction of any size passes through in constant memory. It keeps
//! only where it stands and how each table was last described.

mod event;
mod relations;
#[cfg(test)]
mod tests;

pub use event::Event;

use std::sync::Arc;

use crate::ack::Receipt;
use crate::cell::Tuple;
use crate::change::{Change, ChangeKind, OldRow, Ordinal};
use crate::error::{Error, Site};
use crate::position::{CommitLsn, EndLsn};
use crate::reason::Reason;
use crate::relation::Relation;
use crate::sink;
use crate::wire::{self, Logical, Message, Transactional, Truncate};
use relations::Relations;

/// The state machine between messages and events. One per session: table descriptions do not outlive it.
///
/// | state | message | next state | event |
/// | --- | --- | --- | --- |
/// | idle | Begin | empty | none |
/// | empty | row, truncate, transactional message | open | `Begin` with the first change, ordinal 0 |
/// | empty | Commit | idle | `Empty` |
/// | open | row, truncate, transactional message | open | `Change`, next ordinal |
/// | open | Commit | idle | `Commit` |
/// | empty, open | Origin | unchanged | none |
/// | any of these | Relation | unchanged | `Relation` when it is new or different, else none |
/// | any of these | Type | unchanged | none |
/// | idle | standalone message | idle | `StandaloneMessage` |
/// | any of these | anything else | failed | the error |
/// | failed | anything | failed | the same error |
///
/// *Empty* is a transaction of which nothing has been seen yet. Servers before PostgreSQL 15 send one for every
/// transaction that touched no published table; the sink never hears of it. A transaction whose only content is a
/// transactional message is not empty.
#[derive(Debug, Default)]
pub struct Assembler {
    state: State,
    relations: Relations,
    /// END of the last transaction, which no later one can start before.
    last_end: Option<EndLsn>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Empty(wire::Begin),
    Open {
        begin: wire::Begin,
        next: u64,
    },
    Failed(Error),
}

impl Assembler {
    /// An assembler at the start of a session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Is the stream between transactions? Only then may a keepalive's position mean that nothing is undelivered.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Takes the next message of the session.
    ///
    /// # Errors
    /// `stream_out_of_order` when the protocol rules the message out here, `relation_unknown` and
    /// `row_shape_mismatch` when a row does not fit what was described before it. An error is final: every later
    /// call repeats it.
    pub fn feed(&mut self, message: Message) -> Result<Event, Error> {
        let outcome = self.step(message);
        if let Err(error) = &outcome {
            self.state = State::Failed(error.clone());
        }
        outcome
    }

    fn step(&mut self, message: Message) -> Result<Event, Error> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        match message {
            Message::Begin(begin) => self.begin(begin),
            Message::Commit(commit) => self.commit(commit),
            Message::Origin(_) => self.origin(),
            Message::Relation(relation) => {
                let within = self.commit_lsn();
                let seen = self.relations.describe(relation, within);
                Ok(seen.map_or(Event::None, Event::Relation))
            }
            // The name adds nothing: rows carry the type's object id and the catalog knows what that is, domains
            // included, for which this message gives the wrong name.
            Message::Type(_) => Ok(Event::None),
            Message::Insert(insert) => self.insert(insert),
            Message::Update(update) => self.update(update),
            Message::Delete(delete) => self.delete(delete),
            Message::Truncate(truncate) => self.truncate(&truncate),
            Message::Logical(logical) => self.logical(logical),
        }
    }

    fn begin(&mut self, begin: wire::Begin) -> Result<Event, Error> {
        if !self.is_idle() {
            return Err(self.out_of_order("Begin inside a transaction"));
        }
        // Transactions arrive in commit order and their commit records cannot overlap, so the next one starts at
        // the earliest where the last one ended. A watermark means nothing on a stream where that is not so.
        if self
            .last_end
            .is_some_and(|end| begin.commit_lsn.lsn() < end.lsn())
        {
            return Err(self.out_of_order("a commit before the end of the previous one"));
        }
        self.state = State::Empty(begin);
        Ok(Event::None)
    }

    fn commit(&mut self, commit: wire::Commit) -> Result<Event, Error> {
        let begin = match &self.state {
            State::Empty(begin) | State::Open { begin, .. } => *begin,
            State::Idle | State::Failed(_) => {
                return Err(self.out_of_order("Commit outside of a transaction"));
            }
        };
        if begin.commit_lsn != commit.commit_lsn || begin.committed_at != commit.committed_at {
            return Err(self.out_of_order("Commit does not belong to its Begin"));
        }
        if commit.end_lsn.lsn() <= commit.commit_lsn.lsn() {
            return Err(self.out_of_order("a commit record that ends before it starts"));
        }
        self.last_end = Some(commit.end_lsn);
        match std::mem::take(&mut self.state) {
            State::Open { .. } => Ok(Event::Commit(Receipt::mint(
                commit.commit_lsn,
                commit.end_lsn,
                commit.committed_at,
                begin.xid,
            ))),
            State::Idle | State::Empty(_) | State::Failed(_) => Ok(Event::Empty(commit.end_lsn)),
        }
    }

    fn origin(&self) -> Result<Event, Error> {
        match self.state {
            State::Empty(_) | State::Open { .. } => Ok(Event::None),
            State::Idle | State::Failed(_) => {
                Err(self.out_of_order("Origin outside of a transaction"))
            }
        }
    }

    fn insert(&mut self, insert: wire::Insert) -> Result<Event, Error> {
        let relation = self.relation(insert.relation)?;
        self.check_shape(&relation, &insert.new)?;
        let bytes = resident(None, Some(&insert.new));
        let new = insert.new;
        self.change(1, bytes, ChangeKind::Insert { relation, new })
    }

    fn update(&mut self, update: wire::Update) -> Result<Event, Error> {
        let relation = self.relation(update.relation)?;
        if let Some(old) = &update.old {
            self.check_shape(&relation, old.tuple())?;
        }
        self.check_shape(&relation, &update.new)?;
        let bytes = resident(update.old.as_ref().map(OldRow::tuple), Some(&update.new));
        let (old, new) = (update.old, update.new);
        self.change(1, bytes, ChangeKind::Update { relation, old, new })
    }

    fn delete(&mut self, delete: wire::Delete) -> Result<Event, Error> {
        let relation = self.relation(delete.relation)?;
        self.check_shape(&relation, delete.old.tuple())?;
        let bytes = resident(Some(delete.old.tuple()), None);
        let old = delete.old;
        self.change(1, bytes, ChangeKind::Delete { relation, old })
    }

    fn truncate(&mut self, truncate: &Truncate) -> Result<Event, Error> {
        let relations = truncate
            .relations
            .iter()
            .map(|oid| self.relation(*oid))
            .collect::<Result<Vec<_>, _>>()?;
        let ordinals = relations.len();
        let bytes = size_of::<Change>() + size_of_val(relations.as_slice());
        let kind = ChangeKind::Truncate {
            relations,
            cascade: truncate.cascade,
            restart_identity: truncate.restart_identity,
        };
        self.change(ordinals, bytes, kind)
    }

    fn logical(&mut self, logical: Logical) -> Result<Event, Error> {
        let Logical {
            transactional,
            lsn,
            prefix,
            content,
        } = logical;
        match transactional {
            Transactional::Yes => {
                let bytes =
                    size_of::<Change>() + prefix.as_bytes().len() + content.as_bytes().len();
                self.change(1, bytes, ChangeKind::Message { prefix, content })
            }
            Transactional::No if self.is_idle() => Ok(Event::StandaloneMessage {
                message_lsn: lsn,
                prefix,
                content,
            }),
            Transactional::No => Err(self.out_of_order("standalone Message inside a transaction")),
        }
    }

    /// Emits one change that takes this many ordinals, opening the transaction when it is the first.
    fn change(&mut self, ordinals: usize, bytes: usize, kind: ChangeKind) -> Result<Event, Error> {
        let taken = u64::try_from(ordinals).unwrap_or(u64::MAX);
        match self.state {
            State::Empty(begin) => {
                self.state = State::Open { begin, next: taken };
                let first = Change {
                    ordinal: Ordinal(0),
                    bytes,
                    kind,
                };
                let begin = sink::Begin {
                    commit_lsn: Some(begin.commit_lsn),
                    committed_at: Some(begin.committed_at),
                    xid: begin.xid,
                };
                Ok(Event::Begin(begin, first))
            }
            State::Open {
                next: ref mut counter,
                ..
            } => {
                let ordinal = Ordinal(*counter);
                // A transaction has fewer than 2^32 commands' worth of rows in WAL that is itself numbered in 64
                // bits, so the counter cannot reach its end.
                *counter = counter.saturating_add(taken);
                Ok(Event::Change(Change {
                    ordinal,
                    bytes,
                    kind,
                }))
            }
            State::Idle | State::Failed(_) => {
                Err(self.out_of_order("a change outside of a transaction"))
            }
        }
    }

    fn relation(&self, oid: u32) -> Result<Arc<Relation>, Error> {
        self.relations
            .get(oid)
            .ok_or_else(|| Error::new(Reason::RelationUnknown, self.site()))
    }

    fn check_shape(&self, relation: &Relation, tuple: &Tuple) -> Result<(), Error> {
        let (described, sent) = (relation.columns.len(), tuple.len());
        if described == sent {
            return Ok(());
        }
        let mut site = self
            .site()
            .fact(format!("{sent} columns sent, {described} described"));
        site.table = Some(relation.name.clone());
        Err(Error::new(Reason::RowShapeMismatch, site))
    }

    fn out_of_order(&self, fact: &'static str) -> Error {
        Error::new(Reason::StreamOutOfOrder, self.site().fact(fact))
    }

    fn site(&self) -> Site {
        match self.commit_lsn() {
            Some(commit) => Site::none().lsn(commit.lsn()),
            None => Site::none(),
        }
    }

    /// The open transaction's commit record, if there is one.
    fn commit_lsn(&self) -> Option<CommitLsn> {
        match &self.state {
            State::Empty(begin) | State::Open { begin, .. } => Some(begin.commit_lsn),
            State::Idle | State::Failed(_) => None,
        }
    }
}

/// Bytes a row change keeps in memory; both images of an update share one message.
fn resident(old: Option<&Tuple>, new: Option<&Tuple>) -> usize {
    let images = [old, new].into_iter().flatten().map(Tuple::resident);
    let (message, offsets) = images.fold((0, 0), |(message, offsets), held| {
        (held.message.max(message), held.offsets + offsets)
    });
    size_of::<Change>() + message + offsets
}
