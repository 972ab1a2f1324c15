//! How long to wait before the next attempt: exponential with full jitter, so that many pipelines do not return in step.

use std::time::Duration;

/// How reconnecting behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// Upper bound of the first delay; it doubles with every attempt.
    pub first: Duration,
    /// No delay is longer than this.
    pub cap: Duration,
    /// How many times in a row a command before streaming may fail until the pipeline halts.
    pub commands: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(200),
            cap: Duration::from_secs(30),
            commands: 5,
        }
    }
}

impl Retry {
    /// The delay before attempt number `attempt` (the first is 1): uniform between zero and a growing bound.
    pub(crate) fn delay(&self, attempt: u32) -> Duration {
        self.bound(attempt).mul_f64(fastrand::f64())
    }

    fn bound(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_doubles_up_to_the_cap_and_jitter_stays_below_it() {
        let retry = Retry::default();
        assert_eq!(retry.bound(1), Duration::from_millis(200));
        assert_eq!(retry.bound(4), Duration::from_millis(1600));
        for attempt in [0, 9, 40, u32::MAX] {
            assert!(retry.bound(attempt) <= retry.cap);
            assert!(retry.delay(attempt) <= retry.bound(attempt));
        }
        assert_eq!(retry.bound(u32::MAX), retry.cap);
    }
}
