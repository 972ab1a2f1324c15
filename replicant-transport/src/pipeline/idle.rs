//! When may the acknowledgement advance although no transaction arrived? Pure state; time is passed in.
//!
//! WAL of unpublished tables and of other databases sends nothing, so without this the source would keep it for
//! ever. An idle point may be minted only while nothing is undelivered or unproven; that is derived from the
//! assembler and from [`Progress`] at the moment of minting, never remembered in a flag.

use std::time::Duration;

use tokio::time::Instant;

use crate::pipeline::feedback::Progress;
use crate::position::EndLsn;

/// How eager the next idle advance is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Urgency {
    /// When enough time passed or enough WAL moved.
    WhenDue,
    /// At once: the server asked for a reply, which it also does when it wants to shut down.
    Now,
}

/// Is the assembler between transactions?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    /// No transaction is open.
    Transactions,
    /// A transaction is open.
    BeginAndCommit,
}

/// How often an idle advance may cost the destination a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdlePace {
    /// At least this much time between two advances.
    pub interval: Duration,
    /// Unless this many bytes of WAL moved since the last one.
    pub bytes: u64,
}

/// The highest quiet location seen and when the last one was settled.
#[derive(Debug)]
pub(crate) struct Idle {
    pace: IdlePace,
    candidate: EndLsn,
    urgency: Urgency,
    settled: EndLsn,
    settled_at: Instant,
}

impl Idle {
    /// Nothing is known yet beyond the start of the session.
    pub(crate) fn starting_at(start: EndLsn, pace: IdlePace, now: Instant) -> Self {
        Self {
            pace,
            candidate: start,
            urgency: Urgency::WhenDue,
            settled: start,
            settled_at: now,
        }
    }

    /// The server has sent everything that commits before `at`. To be called in stream order.
    pub(crate) fn quiet_up_to(&mut self, at: EndLsn, urgency: Urgency, between: Between) {
        // Inside a transaction a keepalive says nothing: what precedes it is not delivered yet.
        if between == Between::Transactions {
            self.candidate = self.candidate.max(at);
            self.urgency = self.urgency.max(urgency);
        }
    }

    /// The location to settle now, if any.
    pub(crate) fn due(
        &self,
        now: Instant,
        progress: &Progress,
        between: Between,
    ) -> Option<EndLsn> {
        let at = self.waiting(progress, between)?;
        let moved = at.lsn().value().saturating_sub(self.settled.lsn().value());
        let due = self.urgency == Urgency::Now
            || now >= self.settled_at + self.pace.interval
            || moved >= self.pace.bytes;
        due.then_some(at)
    }

    /// The location to settle when the session ends, whatever the pace.
    pub(crate) fn at_stop(&self, progress: &Progress, between: Between) -> Option<EndLsn> {
        self.waiting(progress, between)
    }

    /// When [`due`](Self::due) may change its mind without a new event.
    pub(crate) fn wake_at(&self, progress: &Progress, between: Between) -> Option<Instant> {
        self.waiting(progress, between)
            .map(|_| self.settled_at + self.pace.interval)
    }

    /// The sink was asked to settle `at`, whether or not it could.
    pub(crate) fn settled(&mut self, at: EndLsn, now: Instant) {
        self.settled = self.settled.max(at);
        self.settled_at = now;
        self.urgency = Urgency::WhenDue;
    }

    fn waiting(&self, progress: &Progress, between: Between) -> Option<EndLsn> {
        let quiet = between == Between::Transactions && progress.is_settled();
        (quiet && self.candidate > progress.acknowledged()).then_some(self.candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::{CommitProof, IdlePoint};
    use crate::position::{Lsn, Watermark};

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

    const PACE: IdlePace = IdlePace {
        interval: Duration::from_secs(10),
        bytes: 1000,
    };

    fn quiet() -> (Idle, Progress, Instant) {
        let now = Instant::now();
        (
            Idle::starting_at(end(100), PACE, now),
            Progress::starting_at(end(100)),
            now,
        )
    }

    #[test]
    fn a_quiet_stream_advances_at_its_pace() {
        let (mut idle, progress, now) = quiet();
        idle.quiet_up_to(end(200), Urgency::WhenDue, Between::Transactions);
        let due = |idle: &Idle, after| {
            idle.due(
                now + Duration::from_secs(after),
                &progress,
                Between::Transactions,
            )
        };
        assert_eq!(due(&idle, 9), None);
        assert_eq!(due(&idle, 10), Some(end(200)));
        idle.quiet_up_to(end(1100), Urgency::WhenDue, Between::Transactions);
        assert_eq!(due(&idle, 0), Some(end(1100)), "many bytes do not wait");
    }

    #[test]
    fn a_request_for_a_reply_does_not_wait_and_counts_once() {
        let (mut idle, progress, now) = quiet();
        idle.quiet_up_to(end(101), Urgency::Now, Between::Transactions);
        assert_eq!(
            idle.due(now, &progress, Between::Transactions),
            Some(end(101))
        );
        idle.settled(end(101), now);
        assert_eq!(idle.due(now, &progress, Between::Transactions), None);
    }

    #[test]
    fn nothing_is_quiet_while_a_receipt_is_unproven() {
        let (mut idle, mut progress, now) = quiet();
        progress.handing_over(end(150));
        idle.quiet_up_to(end(5000), Urgency::Now, Between::Transactions);
        assert_eq!(idle.due(now, &progress, Between::Transactions), None);
        assert_eq!(idle.at_stop(&progress, Between::Transactions), None);
        progress.durable(IdlePoint::mint(end(150)).settle(&Everything).unwrap());
        assert_eq!(
            idle.due(now, &progress, Between::Transactions),
            Some(end(5000))
        );
    }

    #[test]
    fn nothing_is_quiet_inside_a_transaction() {
        let (mut idle, progress, now) = quiet();
        idle.quiet_up_to(end(5000), Urgency::Now, Between::BeginAndCommit);
        assert_eq!(idle.due(now, &progress, Between::Transactions), None);
        idle.quiet_up_to(end(5000), Urgency::Now, Between::Transactions);
        assert_eq!(idle.due(now, &progress, Between::BeginAndCommit), None);
        assert_eq!(idle.at_stop(&progress, Between::BeginAndCommit), None);
    }
}
