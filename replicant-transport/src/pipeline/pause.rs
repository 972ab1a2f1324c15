//! When to let the socket fill before reading again.
//!
//! A reader that wakes for every message halves the walsender: each of its sends becomes a context switch. While
//! data flows, a short pause between reads lets a hundred kilobytes gather. A quiet stream is read at once: the
//! pause starts only after a burst has proven itself, and ends when the server has sent all it has, which it tells by
//! a keepalive before it waits for more WAL. So a lone small transaction is never delayed.

use std::time::{Duration, Instant};

/// Long enough to gather, short enough to stay below what a commit costs.
const PAUSE_MIN: Duration = Duration::from_micros(250);
/// A longer pause lets the socket's buffer fill up and the walsender stop.
const PAUSE_MAX: Duration = Duration::from_millis(1);
/// Reads further apart than this are not one burst.
const LULL: Duration = Duration::from_millis(3);
/// A burst below this many bytes is still a small transaction.
const BURST_BYTES: usize = 16 * 1024;
/// A pause that gathered less may be longer.
const SHORT_READ: usize = 32 * 1024;
/// A read that brought this much gathered enough on its own.
const FULL_READ: usize = 128 * 1024;

/// Has the server said, in what was read, that it has sent everything?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behind {
    /// Not said: more is on its way.
    Perhaps,
    /// Said.
    CaughtUp,
}

/// Decides before each read whether to pause.
#[derive(Debug)]
pub(crate) struct Pacer {
    burst: usize,
    last: Instant,
    /// The pause before the read that is next, when there was one before the last.
    pause: Option<Duration>,
}

impl Pacer {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            burst: 0,
            last: now,
            pause: None,
        }
    }

    /// A read returned `bytes`; how long to pause before the next.
    pub(crate) fn after_read(
        &mut self,
        bytes: usize,
        behind: Behind,
        now: Instant,
    ) -> Option<Duration> {
        let lull = now.duration_since(self.last) > LULL;
        self.last = now;
        self.burst = match behind {
            Behind::CaughtUp => 0,
            Behind::Perhaps if lull => bytes,
            Behind::Perhaps => self.burst.saturating_add(bytes),
        };
        self.pause = if self.burst <= BURST_BYTES || bytes >= FULL_READ {
            None
        } else {
            Some(match self.pause {
                Some(pause) if bytes < SHORT_READ => (pause * 2).min(PAUSE_MAX),
                Some(pause) => pause,
                None => PAUSE_MIN,
            })
        };
        self.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_small_transaction_is_never_delayed() {
        let start = Instant::now();
        let mut pacer = Pacer::new(start);
        let mut now = start;
        for _ in 0..1000 {
            now += Duration::from_millis(5);
            for _ in 0..4 {
                now += Duration::from_micros(30);
                assert_eq!(pacer.after_read(120, Behind::Perhaps, now), None);
            }
        }
    }

    #[test]
    fn a_server_that_has_sent_everything_is_read_at_once() {
        let mut now = Instant::now();
        let mut pacer = Pacer::new(now);
        for _ in 0..100 {
            now += Duration::from_micros(10);
            pacer.after_read(4 * 1024, Behind::Perhaps, now);
        }
        assert!(pacer.after_read(4 * 1024, Behind::Perhaps, now).is_some());
        for _ in 0..1000 {
            now += Duration::from_micros(500);
            assert_eq!(pacer.after_read(330, Behind::CaughtUp, now), None);
        }
    }

    #[test]
    fn a_burst_pauses_longer_until_reads_are_full_or_the_stream_is_quiet() {
        let mut now = Instant::now();
        let mut pacer = Pacer::new(now);
        let mut longest = Duration::ZERO;
        for _ in 0..300 {
            now += Duration::from_micros(10);
            let pause = pacer
                .after_read(8 * 1024, Behind::Perhaps, now)
                .unwrap_or_default();
            now += pause;
            longest = longest.max(pause);
        }
        assert_eq!(longest, PAUSE_MAX);
        assert_eq!(pacer.after_read(FULL_READ, Behind::Perhaps, now), None);
        now += LULL * 2;
        assert_eq!(pacer.after_read(220, Behind::Perhaps, now), None);
    }
}
