//! What may be told to the server: the three positions of a status update, derived from what was handed over and
//! what came back durable. Pure state: no clock, no socket.
//!
//! Source: PostgreSQL documentation, "Streaming Replication Protocol", Standby status update. Only the flush
//! position moves a slot's `confirmed_flush_lsn`, and the server believes whatever it is told, so flush never
//! leaves this file without being clamped to what this session handed to the sink.

use crate::ack::Durable;
use crate::position::{EndLsn, Lsn, WalEnd};

/// How far one session got.
#[derive(Debug)]
pub(crate) struct Progress {
    start: EndLsn,
    received: WalEnd,
    handed_over: EndLsn,
    durable: Option<Durable>,
}

impl Progress {
    /// A session that streams from `start`.
    pub(crate) fn starting_at(start: EndLsn) -> Self {
        Self {
            start,
            received: WalEnd::new(start.lsn()),
            handed_over: start,
            durable: None,
        }
    }

    /// The server sent something up to here. Descriptions of tables carry 0/0, hence the maximum.
    pub(crate) fn received(&mut self, location: Lsn) {
        self.received = self.received.max(WalEnd::new(location));
    }

    /// A receipt or an idle point that ends here is about to be handed to the sink.
    pub(crate) fn handing_over(&mut self, end: EndLsn) {
        self.handed_over = self.handed_over.max(end);
    }

    /// The sink proved durability. Returns whether what the server may be told moved.
    pub(crate) fn durable(&mut self, durable: Durable) -> Moved {
        let before = self.flush();
        self.durable = self.durable.max(Some(durable));
        if self.flush() > before {
            Moved::Yes
        } else {
            Moved::No
        }
    }

    /// Is every receipt that was handed out proven durable? Durability is cumulative: a proof covers everything
    /// that ends at or before it.
    pub(crate) fn is_settled(&self) -> bool {
        self.acknowledged() >= self.handed_over
    }

    /// The flush and apply position of a status update: `None` until this session proved something. Monotone.
    ///
    /// A `Durable` is a copy and may come from an earlier session, whose transactions this one has not seen yet.
    pub(crate) fn flush(&self) -> Option<Durable> {
        let durable = self.durable?.at_most(self.handed_over);
        (durable.end_lsn() > self.start).then_some(durable)
    }

    /// The write position of a status update. Monotone.
    pub(crate) fn wal_end(&self) -> WalEnd {
        self.received
    }

    /// Up to where nothing has to be acknowledged any more.
    pub(crate) fn acknowledged(&self) -> EndLsn {
        self.flush().map_or(self.start, Durable::end_lsn)
    }

    /// Highest END handed to the sink.
    pub(crate) fn handed_over(&self) -> EndLsn {
        self.handed_over
    }
}

/// Did a position move?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    /// It did.
    Yes,
    /// It did not.
    No,
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use proptest::prelude::*;

    use super::*;
    use crate::ack::{CommitProof, IdlePoint, Receipt};
    use crate::position::{CommitLsn, Watermark};

    struct Everything;
    impl CommitProof for Everything {
        fn watermark(&self) -> Watermark {
            Watermark::stored(Lsn::new(u64::MAX))
        }
        fn acked_end(&self) -> EndLsn {
            end(u64::MAX)
        }
    }

    fn end(value: u64) -> EndLsn {
        EndLsn::new(Lsn::new(value))
    }

    fn durable(value: u64) -> Durable {
        IdlePoint::mint(end(value)).settle(&Everything).unwrap()
    }

    #[test]
    fn receiving_is_not_durability() {
        let mut progress = Progress::starting_at(end(100));
        progress.received(Lsn::new(500));
        progress.received(Lsn::new(0));
        progress.handing_over(end(400));
        assert_eq!(progress.wal_end(), WalEnd::new(Lsn::new(500)));
        assert_eq!(progress.flush(), None);
        assert_eq!(progress.acknowledged(), end(100));
        assert!(!progress.is_settled());
    }

    #[test]
    fn a_durable_position_of_an_earlier_session_is_clamped_until_it_is_delivered_again() {
        let mut progress = Progress::starting_at(end(100));
        assert_eq!(progress.durable(durable(900)), Moved::No);
        assert_eq!(progress.flush(), None);
        progress.handing_over(end(300));
        assert_eq!(progress.acknowledged(), end(300));
        assert!(progress.is_settled());
    }

    #[test]
    fn a_later_receipt_settles_the_earlier_ones() {
        let mut progress = Progress::starting_at(end(100));
        progress.handing_over(end(200));
        let commit = CommitLsn::new(Lsn::new(290));
        let receipt = Receipt::mint(commit, end(300), SystemTime::UNIX_EPOCH, 7);
        progress.handing_over(receipt.end_lsn());
        assert_eq!(
            progress.durable(receipt.settle(&Everything).unwrap()),
            Moved::Yes
        );
        assert!(progress.is_settled());
        assert_eq!(progress.durable(durable(200)), Moved::No);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Received(u64),
        HandingOver(u64),
        Durable(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..1000u64).prop_map(Step::Received),
            (0..1000u64).prop_map(Step::HandingOver),
            (0..1000u64).prop_map(Step::Durable),
        ]
    }

    proptest! {
        #[test]
        fn flush_is_monotone_and_never_beyond_delivery_or_durability(
            steps in prop::collection::vec(step(), 0..60),
        ) {
            let mut progress = Progress::starting_at(end(100));
            let (mut delivered, mut proven) = (100, 100);
            let mut last = (progress.wal_end(), progress.acknowledged());
            for step in steps {
                match step {
                    Step::Received(at) => progress.received(Lsn::new(at)),
                    Step::HandingOver(at) => {
                        delivered = delivered.max(at);
                        progress.handing_over(end(at));
                    }
                    Step::Durable(at) => {
                        proven = proven.max(at);
                        progress.durable(durable(at));
                    }
                }
                let now = (progress.wal_end(), progress.acknowledged());
                prop_assert!(now.0 >= last.0 && now.1 >= last.1);
                prop_assert!(now.1 <= end(delivered.min(proven)));
                last = now;
            }
        }
    }
}
