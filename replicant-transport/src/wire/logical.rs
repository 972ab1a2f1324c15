//! What an application put into the WAL: the logical message (`pg_logical_emit_message`).

use super::malformed::{Malformed, Problem};
use super::reader::Reader;
use crate::cell::Opaque;
use crate::position::{Lsn, MessageLsn};

/// Does the message belong to a transaction?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transactional {
    /// Yes: it is part of the transaction around it.
    Yes,
    /// No: it stands alone, outside of any transaction, and survives a rollback of the one that wrote it.
    No,
}

/// `M`: a logical message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logical {
    /// Part of a transaction, or alone.
    pub transactional: Transactional,
    /// END of the message's record.
    pub lsn: MessageLsn,
    /// Its prefix: neither unique nor safe to print.
    pub prefix: Opaque,
    /// Its content: any bytes.
    pub content: Opaque,
}

impl Logical {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let transactional = match reader.u8("flags")? {
            0 => Transactional::No,
            1 => Transactional::Yes,
            _ => return Err(reader.malformed("flags", Problem::Unknown)),
        };
        Ok(Self {
            transactional,
            lsn: MessageLsn::new(Lsn::new(reader.u64("position")?)),
            prefix: Opaque::new(reader.string("prefix")?),
            content: Opaque::new(reader.block("content")?),
        })
    }
}
