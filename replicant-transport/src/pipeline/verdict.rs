//! After a failure: try again, and when, or halt? Pure state; time is passed in.

use std::time::Duration;

use tokio::time::Instant;

use crate::pipeline::backoff::Retry;
use crate::reason::{Class, Reason};

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Another attempt after a delay.
    Again {
        /// Its number, from 1.
        attempt: u32,
        /// The delay before it.
        delay: Duration,
    },
    /// Stop until a person did something.
    Halt,
}

/// How far an attempt came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reached {
    /// Not to the stream.
    Commands,
    /// The server accepted to stream.
    Streaming,
    /// The sink was handed something new, or the stream held for long.
    Progress,
}

/// What failed before, as far as it matters for the next decision.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    attempts: u32,
    /// Commands refused in a row before streaming.
    refused: u32,
    /// Sessions in a row that ended in silence.
    pub(crate) silences: u32,
    slot_busy_since: Option<Instant>,
}

/// A slot in use is looked at this often.
const SLOT_LOOK: Duration = Duration::from_secs(1);

impl Failures {
    /// Judges a failure of the source's side, or of the sink's when there is no reason of ours.
    pub(crate) fn judge(
        &mut self,
        failure: Failure,
        reached: Reached,
        slot_patience: Duration,
        retry: &Retry,
        now: Instant,
    ) -> Verdict {
        if reached >= Reached::Streaming {
            self.refused = 0;
            self.slot_busy_since = None;
        }
        if reached == Reached::Progress {
            self.attempts = 0;
            self.silences = 0;
        }
        match failure.reason {
            Some(Reason::SlotActive) => return self.slot_busy(slot_patience, now),
            Some(Reason::SourceSilent) => self.silences = self.silences.saturating_add(1),
            // A refusal without a reason of its own may pass, but not for ever; so may exhausted connections.
            Some(Reason::ServerRefused | Reason::TooManyConnections | Reason::SlotsExhausted)
                if reached == Reached::Commands =>
            {
                self.refused += 1;
                if self.refused > retry.commands {
                    return Verdict::Halt;
                }
                return self.again(retry);
            }
            _ => {}
        }
        match failure.class {
            Class::Transient => self.again(retry),
            Class::Terminal | Class::OperatorDecision => Verdict::Halt,
        }
    }

    fn again(&mut self, retry: &Retry) -> Verdict {
        self.attempts = self.attempts.saturating_add(1);
        Verdict::Again {
            attempt: self.attempts,
            delay: retry.delay(self.attempts),
        }
    }

    /// A walsender outlives a client that vanished, so a busy slot is given that long.
    fn slot_busy(&mut self, patience: Duration, now: Instant) -> Verdict {
        let since = *self.slot_busy_since.get_or_insert(now);
        if now.duration_since(since) > patience {
            return Verdict::Halt;
        }
        self.attempts = self.attempts.saturating_add(1);
        Verdict::Again {
            attempt: self.attempts,
            delay: SLOT_LOOK,
        }
    }
}

/// What a verdict depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// The transport's reason; `None` when the sink failed.
    pub(crate) reason: Option<Reason>,
    /// Its class.
    pub(crate) class: Class,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(95);

    fn judge(failures: &mut Failures, reason: Reason, reached: Reached, now: Instant) -> Verdict {
        let failure = Failure {
            reason: Some(reason),
            class: reason.class(),
        };
        failures.judge(failure, reached, PATIENCE, &Retry::default(), now)
    }

    #[test]
    fn a_broken_connection_is_tried_again_without_limit() {
        let (mut failures, now) = (Failures::default(), Instant::now());
        for expected in 1..200 {
            let verdict = judge(
                &mut failures,
                Reason::SourceUnreachable,
                Reached::Commands,
                now,
            );
            assert!(matches!(verdict, Verdict::Again { attempt, .. } if attempt == expected));
        }
        let verdict = judge(
            &mut failures,
            Reason::SourceUnreachable,
            Reached::Progress,
            now,
        );
        assert!(matches!(verdict, Verdict::Again { attempt: 1, .. }));
    }

    #[test]
    fn refused_commands_are_tried_again_a_few_times() {
        let (mut failures, now) = (Failures::default(), Instant::now());
        for _ in 0..5 {
            let verdict = judge(&mut failures, Reason::ServerRefused, Reached::Commands, now);
            assert!(matches!(verdict, Verdict::Again { .. }));
        }
        let verdict = judge(&mut failures, Reason::ServerRefused, Reached::Commands, now);
        assert_eq!(verdict, Verdict::Halt);
        let mut streaming = Failures::default();
        let verdict = judge(
            &mut streaming,
            Reason::ServerRefused,
            Reached::Streaming,
            now,
        );
        assert_eq!(
            verdict,
            Verdict::Halt,
            "a refusal by the decoder will come again"
        );
    }

    #[test]
    fn a_busy_slot_is_waited_for_longer_than_a_walsender_outlives_its_client() {
        let (mut failures, start) = (Failures::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for seconds in [0, 30, 95] {
            let verdict = judge(
                &mut failures,
                Reason::SlotActive,
                Reached::Commands,
                at(seconds),
            );
            assert!(matches!(verdict, Verdict::Again { .. }));
        }
        let verdict = judge(&mut failures, Reason::SlotActive, Reached::Commands, at(96));
        assert_eq!(verdict, Verdict::Halt);
    }

    #[test]
    fn a_decision_is_never_taken_for_the_operator() {
        for reason in Reason::ALL {
            let passing = matches!(
                reason,
                Reason::SlotActive | Reason::ServerRefused | Reason::SlotsExhausted
            );
            if reason.class() != Class::Transient && !passing {
                let mut failures = Failures::default();
                let verdict = judge(&mut failures, *reason, Reached::Commands, Instant::now());
                assert_eq!(verdict, Verdict::Halt, "{reason}");
            }
        }
    }
}
