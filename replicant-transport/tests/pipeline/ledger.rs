//! A destination that is not PostgreSQL: a ledger in memory, written against the public trait only.
//!
//! Its durable part survives the pipeline, as a database would; what was begun and not committed does not.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use replicant_transport::Sink;
use replicant_transport::ack::{CommitProof, Durable, IdlePoint, Receipt};
use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::{Change, ChangeKind, OldRow};
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, Watermark};
use replicant_transport::reason::Class;
use replicant_transport::sink::{Begin, Feedback, RelationSeen, Resume, SinkError, ValueFormat};
use replicant_transport::source::{Session, Slot, SlotProvenance};
use tokio::sync::watch;

/// When a committed transaction becomes durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Durability {
    /// Before `commit` returns.
    #[default]
    AtCommit,
    /// When the test says so.
    WhenReleased,
}

/// What becomes of a drain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Draining {
    #[default]
    Works,
    Fails,
    NeverEnds,
}

/// How the ledger behaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) durability: Durability,
    /// How long each commit takes.
    pub(crate) delay: Duration,
    pub(crate) draining: Draining,
    /// Fail this many commits with a transient error first.
    pub(crate) transient_failures: u32,
}

/// One applied transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) commit: CommitLsn,
    pub(crate) ordinals: Vec<u64>,
    pub(crate) changes: Vec<String>,
}

/// What a test looks at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    pub(crate) entries: Vec<Entry>,
    /// Transactions that came again and were already durable.
    pub(crate) redelivered: u64,
    pub(crate) watermark: Option<Watermark>,
    pub(crate) acked_end: Option<EndLsn>,
    pub(crate) origins: Vec<Slot>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) relations: Vec<RelationSeen>,
    pub(crate) begun: u64,
    pub(crate) aborted: u64,
    pub(crate) drained: u64,
    pub(crate) settled: u64,
    pub(crate) batches: u64,
    pub(crate) largest_batch: usize,
}

impl Book {
    pub(crate) fn changes(&self) -> Vec<String> {
        self.entries
            .iter()
            .flat_map(|entry| entry.changes.clone())
            .collect()
    }
}

/// The ledger's durable side, shared with the test.
#[derive(Clone)]
pub(crate) struct Ledger {
    book: watch::Sender<Book>,
    held: Arc<Mutex<Vec<Receipt>>>,
    feedback: Arc<Mutex<Option<Feedback<LedgerError>>>>,
    manner: Arc<Mutex<Manner>>,
}

impl Ledger {
    pub(crate) fn new(manner: Manner) -> Self {
        Self {
            book: watch::Sender::new(Book::default()),
            held: Arc::default(),
            feedback: Arc::default(),
            manner: Arc::new(Mutex::new(manner)),
        }
    }

    pub(crate) fn book(&self) -> Book {
        self.book.borrow().clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Book> {
        self.book.subscribe()
    }

    pub(crate) fn forget_acked_end(&self) {
        self.book.send_modify(|book| book.acked_end = None);
    }

    pub(crate) fn claim_acked_end(&self, at: EndLsn) {
        self.book.send_modify(|book| book.acked_end = Some(at));
    }

    pub(crate) fn claim_watermark(&self, at: Watermark) {
        self.book.send_modify(|book| book.watermark = Some(at));
    }

    /// Drops the line to the pipeline, as a task that dies does.
    pub(crate) fn hang_up(&self) {
        self.feedback.lock().unwrap().take();
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// Makes everything durable that was committed and held back.
    pub(crate) fn release(&self) {
        let held: Vec<Receipt> = std::mem::take(&mut *self.held.lock().unwrap());
        for receipt in held {
            self.make_durable(receipt);
        }
    }

    /// A sink for one run of the pipeline.
    pub(crate) fn sink(&self) -> LedgerSink {
        LedgerSink {
            ledger: self.clone(),
            open: None,
        }
    }

    fn make_durable(&self, receipt: Receipt) {
        self.book.send_modify(|book| {
            book.watermark = Some(Watermark::at(receipt.commit_lsn()));
            book.acked_end = book.acked_end.max(Some(receipt.end_lsn()));
        });
        let durable = receipt.settle(&self.proof()).expect("the book covers it");
        if let Some(feedback) = &*self.feedback.lock().unwrap() {
            feedback.durable(durable);
        }
    }

    fn proof(&self) -> Proof {
        let book = self.book.borrow();
        Proof {
            watermark: book.watermark.unwrap_or(Watermark::stored(Lsn::new(0))),
            acked_end: book.acked_end.unwrap_or(EndLsn::new(Lsn::new(0))),
        }
    }
}

struct Proof {
    watermark: Watermark,
    acked_end: EndLsn,
}

impl CommitProof for Proof {
    fn watermark(&self) -> Watermark {
        self.watermark
    }
    fn acked_end(&self) -> EndLsn {
        self.acked_end
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LedgerError {
    Flaky,
    DestinationBehindSlot,
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl SinkError for LedgerError {
    fn code(&self) -> &'static str {
        match self {
            Self::Flaky => "ledger_flaky",
            Self::DestinationBehindSlot => "destination_behind_slot",
        }
    }
    fn class(&self) -> Class {
        match self {
            Self::Flaky => Class::Transient,
            Self::DestinationBehindSlot => Class::OperatorDecision,
        }
    }
}

pub(crate) struct LedgerSink {
    ledger: Ledger,
    open: Option<(Vec<u64>, Vec<String>)>,
}

impl Sink for LedgerSink {
    type Error = LedgerError;

    async fn bind(
        &mut self,
        session: &Session,
        feedback: Feedback<LedgerError>,
    ) -> Result<Resume, LedgerError> {
        self.open = None;
        self.ledger.held.lock().unwrap().clear();
        *self.ledger.feedback.lock().unwrap() = Some(feedback);
        self.ledger.book.send_modify(|book| {
            book.sessions.push(session.clone());
            // Applied and never durable is lost with the session, as in a database.
            let watermark = book.watermark;
            book.entries
                .retain(|entry| watermark.is_some_and(|mark| mark.covers(entry.commit)));
        });
        let book = self.ledger.book.borrow();
        Ok(Resume {
            watermark: book.watermark,
            acked_end: book.acked_end,
            format: ValueFormat::Text,
        })
    }

    async fn origin(&mut self, slot: &Slot) -> Result<EndLsn, LedgerError> {
        let mut outcome = Ok(slot.origin);
        self.ledger.book.send_modify(|book| {
            book.origins.push(slot.clone());
            match book.acked_end {
                Some(acked) if slot.origin > acked => {
                    outcome = Err(LedgerError::DestinationBehindSlot)
                }
                Some(_) => {}
                None => {
                    book.acked_end = Some(slot.origin);
                    book.watermark = Some(Watermark::before(slot.origin));
                }
            }
        });
        if matches!(slot.provenance, SlotProvenance::Created { .. }) {
            assert_eq!(outcome, Ok(slot.origin));
        }
        outcome
    }

    async fn relation(&mut self, seen: RelationSeen) -> Result<(), LedgerError> {
        self.ledger
            .book
            .send_modify(|book| book.relations.push(seen));
        Ok(())
    }

    async fn begin(&mut self, _begin: Begin) -> Result<(), LedgerError> {
        assert!(self.open.is_none(), "begin inside a transaction");
        self.open = Some((Vec::new(), Vec::new()));
        self.ledger.book.send_modify(|book| book.begun += 1);
        Ok(())
    }

    async fn changes(&mut self, batch: Vec<Change>) -> Result<(), LedgerError> {
        let (ordinals, changes) = self.open.as_mut().expect("changes outside a transaction");
        self.ledger.book.send_modify(|book| {
            book.batches += 1;
            book.largest_batch = book
                .largest_batch
                .max(batch.iter().map(|change| change.bytes).sum());
        });
        for change in batch {
            ordinals.push(change.ordinal.0);
            changes.push(describe(&change));
        }
        Ok(())
    }

    async fn commit(&mut self, receipt: Receipt) -> Result<(), LedgerError> {
        let manner = *self.ledger.manner.lock().unwrap();
        let (ordinals, changes) = self.open.take().expect("commit outside a transaction");
        // A delay is what is being tested, not a way to wait.
        tokio::time::sleep(manner.delay).await;
        if manner.transient_failures > 0 {
            let transient_failures = manner.transient_failures - 1;
            self.ledger.behave(Manner {
                transient_failures,
                ..manner
            });
            return Err(LedgerError::Flaky);
        }
        let covered = self.ledger.proof().watermark.covers(receipt.commit_lsn());
        self.ledger.book.send_modify(|book| {
            if covered {
                book.redelivered += 1;
            } else {
                book.entries.push(Entry {
                    commit: receipt.commit_lsn(),
                    ordinals,
                    changes,
                });
            }
        });
        match manner.durability {
            _ if covered => {
                let durable = receipt.settle(&self.ledger.proof());
                if let (Some(durable), Some(feedback)) =
                    (durable, &*self.ledger.feedback.lock().unwrap())
                {
                    feedback.durable(durable);
                }
            }
            Durability::AtCommit => self.ledger.make_durable(receipt),
            Durability::WhenReleased => self.ledger.held.lock().unwrap().push(receipt),
        }
        Ok(())
    }

    async fn abort(&mut self) -> Result<(), LedgerError> {
        self.open = None;
        self.ledger.book.send_modify(|book| book.aborted += 1);
        Ok(())
    }

    async fn settle(&mut self, idle: IdlePoint) -> Result<Option<Durable>, LedgerError> {
        self.ledger.book.send_modify(|book| {
            book.settled += 1;
            book.acked_end = book.acked_end.max(Some(idle.end_lsn()));
        });
        Ok(idle.settle(&self.ledger.proof()))
    }

    async fn drain(&mut self) -> Result<(), LedgerError> {
        let draining = self.ledger.manner.lock().unwrap().draining;
        match draining {
            Draining::Works => {}
            Draining::Fails => return Err(LedgerError::Flaky),
            Draining::NeverEnds => std::future::pending().await,
        }
        self.open = None;
        self.ledger.release();
        self.ledger.book.send_modify(|book| book.drained += 1);
        Ok(())
    }
}

fn describe(change: &Change) -> String {
    match &change.kind {
        ChangeKind::Insert { relation, new } => format!("insert {} {}", relation.name, row(new)),
        ChangeKind::Update { relation, old, new } => {
            let old = match old {
                None => String::new(),
                Some(OldRow::Key(old) | OldRow::Full(old)) => row(old),
            };
            format!("update {} {old} -> {}", relation.name, row(new))
        }
        ChangeKind::Delete {
            relation,
            old: OldRow::Key(old) | OldRow::Full(old),
        } => {
            format!("delete {} {}", relation.name, row(old))
        }
        ChangeKind::Truncate { relations, .. } => format!("truncate {}", relations.len()),
        ChangeKind::Message { .. } => "message".to_owned(),
    }
}

fn row(tuple: &Tuple) -> String {
    let cells: Vec<String> = tuple
        .iter()
        .map(|cell| match cell {
            Cell::Null => "null".to_owned(),
            Cell::Unchanged => "unchanged".to_owned(),
            Cell::Text(text) if text.len() > 40 => format!("({} bytes)", text.len()),
            Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Cell::Binary(bytes) => format!("{bytes:02x?}"),
        })
        .collect();
    format!("({})", cells.join(", "))
}
