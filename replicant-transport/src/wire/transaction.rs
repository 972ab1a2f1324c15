//! Where a transaction starts, ends and came from: Begin, Commit and Origin.

use std::time::SystemTime;

use super::malformed::{Malformed, Problem};
use super::reader::Reader;
use super::time;
use crate::cell::Opaque;
use crate::position::{CommitLsn, EndLsn, Lsn};

/// `B`: a committed transaction begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begin {
    /// START of its commit record; the Commit message repeats it.
    pub commit_lsn: CommitLsn,
    /// When it committed, by the source's clock.
    pub committed_at: SystemTime,
    /// Its transaction id.
    pub xid: u32,
}

/// `C`: the transaction is whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Commit {
    /// START of the commit record.
    pub commit_lsn: CommitLsn,
    /// END of the commit record.
    pub end_lsn: EndLsn,
    /// When it committed, by the source's clock.
    pub committed_at: SystemTime,
}

/// `O`: the transaction came to the source through replication.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Location of the commit on the server it came from; no position of this source.
    pub origin_lsn: Lsn,
    /// The replication origin's name on the source.
    pub name: Opaque,
}

impl Begin {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            commit_lsn: CommitLsn::new(Lsn::new(reader.u64("commit position")?)),
            committed_at: time::read(reader, "commit time")?,
            xid: reader.u32("transaction id")?,
        })
    }
}

impl Commit {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        // Documented as "currently unused": a set bit would mean something that this decoder does not know.
        if reader.u8("flags")? != 0 {
            return Err(reader.malformed("flags", Problem::Unknown));
        }
        Ok(Self {
            commit_lsn: CommitLsn::new(Lsn::new(reader.u64("commit position")?)),
            end_lsn: EndLsn::new(Lsn::new(reader.u64("end position")?)),
            committed_at: time::read(reader, "commit time")?,
        })
    }
}

impl Origin {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            origin_lsn: Lsn::new(reader.u64("origin position")?),
            name: Opaque::new(reader.string("origin name")?),
        })
    }
}
