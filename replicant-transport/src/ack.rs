//! What may be acknowledged: only what a commit proved durable.
//!
//! A [`Receipt`] is minted by the assembler when a source transaction is whole, an [`IdlePoint`] only while nothing
//! is undelivered. Neither can be built from a number, copied or kept back: settling one consumes it and needs
//! proof of a commit. A sink that never commits can only drop receipts, and dropping acknowledges nothing.

use std::time::SystemTime;

use crate::position::{CommitLsn, EndLsn, Watermark};

/// Proof that a destination commit is durable, and what it covers.
///
/// The checkpoint's committed state implements it; another sink implements it for whatever makes its writes
/// durable. A false proof loses data at the next restart, so construct one only from a commit that returned.
pub trait CommitProof {
    /// Every transaction whose commit record starts at or before this has taken effect.
    fn watermark(&self) -> Watermark;
    /// The highest END position that is durably entitled to be acknowledged.
    fn acked_end(&self) -> EndLsn;
}

/// One whole source transaction, delivered and not yet proven durable.
#[derive(Debug)]
#[must_use = "dropping a receipt acknowledges nothing"]
pub struct Receipt {
    commit_lsn: CommitLsn,
    end_lsn: EndLsn,
    committed_at: SystemTime,
    xid: u32,
}

impl Receipt {
    pub(crate) fn mint(
        commit_lsn: CommitLsn,
        end_lsn: EndLsn,
        committed_at: SystemTime,
        xid: u32,
    ) -> Self {
        Self {
            commit_lsn,
            end_lsn,
            committed_at,
            xid,
        }
    }

    /// START of the transaction's commit record.
    pub fn commit_lsn(&self) -> CommitLsn {
        self.commit_lsn
    }

    /// END of the transaction's commit record.
    pub fn end_lsn(&self) -> EndLsn {
        self.end_lsn
    }

    /// When the source committed, by the source's clock. It is not monotone; nothing may order by it.
    pub fn committed_at(&self) -> SystemTime {
        self.committed_at
    }

    /// The source's 32-bit transaction id. It wraps; nothing may order by it.
    pub fn xid(&self) -> u32 {
        self.xid
    }

    /// Turns the receipt into something that may be acknowledged. `None` when the proof does not cover it.
    pub fn settle(self, proof: &impl CommitProof) -> Option<Durable> {
        let covered =
            proof.watermark().covers(self.commit_lsn) && proof.acked_end() >= self.end_lsn;
        covered.then_some(Durable(self.end_lsn))
    }
}

/// The stream is idle up to here: everything before it was delivered and settled, or was filtered by the server.
#[derive(Debug)]
#[must_use = "an idle point that is not settled moves nothing"]
pub struct IdlePoint {
    at: EndLsn,
}

impl IdlePoint {
    pub(crate) fn mint(at: EndLsn) -> Self {
        Self { at }
    }

    /// The position that may be recorded as acknowledged.
    pub fn end_lsn(&self) -> EndLsn {
        self.at
    }

    /// Turns the idle point into something that may be acknowledged. `None` when the proof does not reach it.
    pub fn settle(self, proof: &impl CommitProof) -> Option<Durable> {
        (proof.acked_end() >= self.at).then_some(Durable(self.at))
    }
}

/// An END position that is durably applied; the only thing feedback accepts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Durable(EndLsn);

impl Durable {
    /// The position.
    pub fn end_lsn(self) -> EndLsn {
        self.0
    }

    /// What is durable up to a position is durable up to every earlier one.
    pub(crate) fn at_most(self, end: EndLsn) -> Self {
        Self(self.0.min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Lsn;

    struct Proof(u64, u64);
    impl CommitProof for Proof {
        fn watermark(&self) -> Watermark {
            Watermark::at(CommitLsn::new(Lsn::new(self.0)))
        }
        fn acked_end(&self) -> EndLsn {
            EndLsn::new(Lsn::new(self.1))
        }
    }

    fn receipt() -> Receipt {
        let commit = CommitLsn::new(Lsn::new(0x100));
        Receipt::mint(
            commit,
            EndLsn::new(Lsn::new(0x130)),
            SystemTime::UNIX_EPOCH,
            7,
        )
    }

    #[test]
    fn a_receipt_needs_a_proof_that_covers_both_of_its_positions() {
        assert!(receipt().settle(&Proof(0x0FF, 0x130)).is_none());
        assert!(receipt().settle(&Proof(0x100, 0x12F)).is_none());
        let durable = receipt().settle(&Proof(0x100, 0x130)).unwrap();
        assert_eq!(durable.end_lsn(), EndLsn::new(Lsn::new(0x130)));
    }

    #[test]
    fn an_idle_point_needs_a_durable_acked_end() {
        let point = || IdlePoint::mint(EndLsn::new(Lsn::new(0x200)));
        assert!(point().settle(&Proof(0, 0x1FF)).is_none());
        assert!(point().settle(&Proof(0, 0x200)).is_some());
    }
}
