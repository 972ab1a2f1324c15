//! What must hold for any input, per parser.

// A broken invariant is a panic here: that is what the driver and cargo-fuzz look for.
#![allow(clippy::panic)]

use std::collections::HashMap;

use bytes::Bytes;
use replicant_transport::assemble::{Assembler, Event};
use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::{Change, ChangeKind, OldRow};
use replicant_transport::position::{CommitLsn, EndLsn};
use replicant_transport::relation::{self, Relation};
use replicant_transport::wire::{self, Message, frame};

use crate::{encode, sequence};

/// A frame is refused, or its message goes through [`message`].
pub(crate) fn frame(input: &[u8]) {
    if let Ok(frame) = frame::decode(&Bytes::copy_from_slice(input)) {
        let _ = format!("{frame:?}");
        match &frame {
            frame::Frame::Data { payload, .. } => message(payload),
            frame::Frame::Keepalive { .. } => assert_eq!(encode::frame(&frame), input),
        }
    }
}

/// A message is refused, or it is exactly its bytes: nothing is lost, nothing is read beyond them.
pub(crate) fn message(input: &[u8]) {
    match wire::decode(Bytes::copy_from_slice(input)) {
        Ok(message) => {
            let _ = format!("{message:?}");
            let again = encode::message(&message);
            // An empty schema and pg_catalog are one, so only the meaning is compared there.
            match wire::decode(Bytes::from(again.clone())) {
                Ok(same) => assert!(same == message, "a message changed on its way back"),
                Err(error) => panic!("a decoded message is refused when sent again: {error}"),
            }
            assert!(
                again == input || matches!(message, Message::Relation(_)),
                "the bytes of a message changed on its way back"
            );
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

/// Whatever comes in, what comes out is well-formed transactions.
pub(crate) fn assembler(input: &[u8]) {
    let mut assembler = Assembler::new();
    let mut model = Model::default();
    let mut failed = None;
    for bytes in sequence::split(input) {
        let Ok(message) = wire::decode(Bytes::copy_from_slice(bytes)) else {
            continue;
        };
        match (assembler.feed(message.clone()), &failed) {
            (Ok(event), None) => model.check(&message, &event),
            (Ok(_), Some(_)) => panic!("an assembler went on after an error"),
            (Err(error), Some(first)) => assert_eq!(&error, first, "an error was replaced"),
            (Err(error), None) => failed = Some(error),
        }
        assert!(
            !(failed.is_some() && assembler.is_idle()),
            "idle after an error"
        );
        assert!(
            failed.is_some() || assembler.is_idle() != model.in_transaction,
            "idle is not what it says"
        );
    }
}

/// A difference is empty exactly when nothing differs.
pub(crate) fn relation_diff(input: &[u8]) {
    let relations: Vec<Relation> = sequence::split(input)
        .filter_map(|bytes| match wire::decode(Bytes::copy_from_slice(bytes)) {
            Ok(Message::Relation(relation)) => Some(relation),
            _ => None,
        })
        .collect();
    for pair in relations.windows(2) {
        if let [old, new] = pair {
            assert!(relation::diff(old, old).changes().is_empty());
            assert!(relation::diff(new, new).changes().is_empty());
            let diff = relation::diff(old, new);
            assert_eq!(diff.changes().is_empty(), old == new);
            if let Some(change) = diff.destructive() {
                assert!(diff.changes().contains(change));
            }
        }
    }
}

/// What the events so far say, kept independently of the assembler.
#[derive(Default)]
struct Model {
    in_transaction: bool,
    /// Commit position and next ordinal of the transaction that was begun.
    open: Option<(CommitLsn, u64)>,
    end: Option<EndLsn>,
    relations: HashMap<u32, Relation>,
}

impl Model {
    fn check(&mut self, message: &Message, event: &Event) {
        let _ = format!("{event:?}");
        match message {
            Message::Begin(_) => {
                assert!(!self.in_transaction && matches!(event, Event::None));
                self.in_transaction = true;
            }
            Message::Commit(_) => {
                assert!(self.in_transaction, "Commit without Begin");
                assert!(matches!(event, Event::Commit(_) | Event::Empty(_)));
                self.in_transaction = false;
            }
            Message::Relation(relation) => {
                let before = self.relations.insert(relation.oid, relation.clone());
                match event {
                    Event::Relation(seen) => {
                        assert_eq!(*seen.relation, *relation);
                        assert_ne!(seen.previous.as_deref(), Some(relation));
                    }
                    Event::None => assert_eq!(before.as_ref(), Some(relation)),
                    _ => panic!("a Relation turned into something else"),
                }
            }
            Message::Origin(_) | Message::Type(_) => assert!(matches!(event, Event::None)),
            Message::Insert(_) | Message::Update(_) | Message::Delete(_) | Message::Truncate(_) => {
                assert!(self.in_transaction);
                assert!(matches!(event, Event::Begin(..) | Event::Change(_)));
            }
            Message::Logical(_) => assert!(!matches!(event, Event::None)),
        }
        match event {
            Event::None | Event::Relation(_) => {}
            Event::Begin(begin, change) => {
                assert!(self.open.is_none(), "a transaction inside another");
                let commit_lsn = begin.commit_lsn.filter(|_| self.in_transaction);
                self.open = commit_lsn.map(|lsn| (lsn, 0));
                self.change(change);
            }
            Event::Change(change) => self.change(change),
            Event::Commit(receipt) => {
                let open = self.open.take().map(|(lsn, _)| lsn);
                assert_eq!(
                    open,
                    Some(receipt.commit_lsn()),
                    "a receipt without its begin"
                );
                assert!(receipt.commit_lsn().lsn() < receipt.end_lsn().lsn());
                self.ended(receipt.end_lsn());
            }
            Event::Empty(end) => {
                assert!(
                    self.open.is_none(),
                    "a transaction with changes is not empty"
                );
                self.ended(*end);
            }
            Event::StandaloneMessage { .. } => assert!(!self.in_transaction),
        }
    }

    fn ended(&mut self, end: EndLsn) {
        assert!(self.end < Some(end), "transactions out of order");
        self.end = Some(end);
    }

    fn change(&mut self, change: &Change) {
        let Some((_, next)) = &mut self.open else {
            panic!("a change outside of a transaction");
        };
        assert_eq!(change.ordinal.0, *next, "ordinals have no gaps");
        *next += match &change.kind {
            ChangeKind::Truncate { relations, .. } => {
                u64::try_from(relations.len()).unwrap_or(u64::MAX)
            }
            _ => 1,
        };
        match &change.kind {
            ChangeKind::Insert { relation, new } => {
                self.row(relation, new);
                assert!(new.iter().all(|cell| cell != Cell::Unchanged));
                assert!(change.bytes > new.payload_bytes());
            }
            ChangeKind::Update { relation, old, new } => {
                self.row(relation, new);
                if let Some(old) = old {
                    self.old(relation, old);
                }
            }
            ChangeKind::Delete { relation, old } => self.old(relation, old),
            ChangeKind::Truncate { relations, .. } => {
                assert!(!relations.is_empty());
                for relation in relations {
                    assert_eq!(self.relations.get(&relation.oid), Some(&**relation));
                }
            }
            ChangeKind::Message { content, .. } => {
                assert!(change.bytes > content.as_bytes().len());
            }
        }
    }

    fn old(&self, relation: &Relation, old: &OldRow) {
        let tuple = old.tuple();
        self.row(relation, tuple);
        assert!(tuple.iter().all(|cell| cell != Cell::Unchanged));
    }

    /// A row uses the last description of its table and fits it.
    fn row(&self, relation: &Relation, tuple: &Tuple) {
        assert_eq!(self.relations.get(&relation.oid), Some(relation));
        assert_eq!(relation.columns.len(), tuple.len());
    }
}
