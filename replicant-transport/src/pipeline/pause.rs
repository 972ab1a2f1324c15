//! When to let the socket fill before reading again, and how to wait a fraction of a millisecond.
//!
//! A reader that wakes for every message halves the walsender: each of its sends becomes a context switch. While
//! data flows, a short pause between reads lets a hundred kilobytes gather. A quiet stream is read at once: the
//! pause starts only after a burst has proven itself, so a lone small transaction is never delayed.

use std::time::Duration;

use tokio::time::Instant;

/// Long enough to gather, short enough to stay below what a commit costs.
const PAUSE: Duration = Duration::from_micros(300);
/// Reads further apart than this are not one burst.
const LULL: Duration = Duration::from_millis(2);
/// A burst below this many bytes is still a small transaction.
const BURST_BYTES: usize = 16 * 1024;
/// A read that brought this much gathered enough on its own.
const FULL_READ: usize = 128 * 1024;

/// Decides before each read whether to pause.
#[derive(Debug)]
pub(crate) struct Pacer {
    burst: usize,
    last: Instant,
}

impl Pacer {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            burst: 0,
            last: now,
        }
    }

    /// A read returned `bytes`; how long to pause before the next.
    pub(crate) fn after_read(&mut self, bytes: usize, now: Instant) -> Option<Duration> {
        if now.duration_since(self.last) > LULL {
            self.burst = 0;
        }
        self.last = now;
        self.burst = self.burst.saturating_add(bytes);
        (self.burst > BURST_BYTES && bytes < FULL_READ).then_some(PAUSE)
    }
}

pub(crate) use timer::Timer;

#[cfg(target_os = "linux")]
mod timer {
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::net::unix::pipe::Receiver;

    /// A timer finer than the runtime's millisecond, when the kernel grants one.
    ///
    /// A timer descriptor becomes readable when it expires and is read like a pipe, which is the runtime's safe way
    /// to wait for a descriptor that we own.
    #[derive(Debug)]
    pub(crate) struct Timer(Option<Receiver>);

    impl Timer {
        pub(crate) fn new() -> Self {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags).ok();
            Self(fd.and_then(|fd| Receiver::from_owned_fd_unchecked(fd).ok()))
        }

        /// Arms the timer; [`elapsed`](Self::elapsed) then returns after `pause`.
        pub(crate) fn arm(&mut self, pause: Duration) {
            let spec = Itimerspec {
                it_interval: Timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                },
                it_value: Timespec {
                    tv_sec: 0,
                    tv_nsec: i64::from(pause.subsec_nanos()),
                },
            };
            let armed = self
                .0
                .as_ref()
                .is_some_and(|fd| timerfd_settime(fd, TimerfdTimerFlags::empty(), &spec).is_ok());
            if !armed {
                self.0 = None;
            }
        }

        /// Waits for the armed timer.
        ///
        /// # Cancel safety
        /// Safe: the timer stays armed and can be awaited again.
        pub(crate) async fn elapsed(&mut self) {
            let Some(timer) = &self.0 else {
                tokio::time::sleep(Duration::from_millis(1)).await;
                return;
            };
            loop {
                let mut expirations = [0_u8; 8];
                match timer.try_read(&mut expirations) {
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    _ => return,
                }
                if timer.readable().await.is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod timer {
    use std::time::Duration;

    /// The runtime's own timer: a millisecond is the finest it has.
    #[derive(Debug)]
    pub(crate) struct Timer;

    impl Timer {
        pub(crate) fn new() -> Self {
            Self
        }

        /// Nothing to arm.
        pub(crate) fn arm(&mut self, _pause: Duration) {}

        /// Waits a millisecond.
        ///
        /// # Cancel safety
        /// Safe: waiting again only waits longer.
        pub(crate) async fn elapsed(&mut self) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
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
                assert_eq!(pacer.after_read(120, now), None);
            }
        }
    }

    #[test]
    fn a_burst_pauses_until_reads_are_full_or_the_stream_is_quiet() {
        let mut now = Instant::now();
        let mut pacer = Pacer::new(now);
        let mut paused = 0;
        for _ in 0..300 {
            now += Duration::from_micros(10);
            paused += usize::from(pacer.after_read(220, now).is_some());
        }
        assert!(paused > 200, "{paused}");
        assert_eq!(pacer.after_read(FULL_READ, now), None);
        now += Duration::from_millis(3);
        assert_eq!(pacer.after_read(220, now), None);
    }

    #[tokio::test]
    async fn the_timer_waits_less_than_a_millisecond_tick_would() {
        let mut timer = Timer::new();
        let mut shortest = Duration::MAX;
        for _ in 0..50 {
            let before = std::time::Instant::now();
            timer.arm(PAUSE);
            timer.elapsed().await;
            let took = before.elapsed();
            assert!(took >= PAUSE);
            shortest = shortest.min(took);
        }
        if cfg!(target_os = "linux") {
            assert!(shortest < Duration::from_millis(1), "{shortest:?}");
        }
    }
}
