//! What the pipeline learns from one message.

use crate::ack::Receipt;
use crate::cell::Opaque;
use crate::change::Change;
use crate::position::{EndLsn, MessageLsn};
use crate::sink::{Begin, RelationSeen};

/// What one message meant.
#[derive(Debug)]
pub enum Event {
    /// Nothing to act upon: a Begin whose transaction may yet be empty, an identical Relation, an Origin, a Type.
    None,
    /// A table was described for the first time in this session, or differently. The rows that follow use it.
    Relation(RelationSeen),
    /// A transaction begins, with its first change: one that changed nothing never gets here.
    Begin(Begin, Change),
    /// The open transaction's next change.
    Change(Change),
    /// The open transaction is whole.
    Commit(Receipt),
    /// A transaction without published changes ended here. There is nothing to deliver, and the position may be
    /// acknowledged once everything before it is durable.
    Empty(EndLsn),
    /// A logical message outside of any transaction.
    StandaloneMessage {
        /// END of its record. It can equal the commit position of the transaction that wrote it and comes first.
        message_lsn: MessageLsn,
        /// Its prefix: neither unique nor safe to print.
        prefix: Opaque,
        /// Its content.
        content: Opaque,
    },
}
