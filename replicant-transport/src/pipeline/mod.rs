//! The loop that wires everything together: connect, bind, stream, acknowledge, reconnect, stop.
//!
//! ```text
//!          own thread (pump)                caller's task (drive)                 sink
//!   socket ─► frames ─► bounded queue ─────► decode ─► assemble ─► begin/changes/commit ─► ...
//!      ▲        │ keepalive: answer now        │ keepalive, in order: quiet up to here        │
//!      │        ▼                              ▼                                              │
//!   status ◄── Progress ◄─── settle(IdlePoint) ◄──────────────────────── Feedback::durable ◄──┘
//! ```
//!
//! The server is answered by the pump whatever the sink does. The queue is bounded in bytes: when it is full the
//! socket is not read any more. Acknowledgements are derived in `feedback` and `idle` from what was handed over and what was proven
//! durable, and from nothing else.

mod attempt;
mod backoff;
mod drive;
mod feedback;
mod idle;
mod options;
mod pause;
mod pump;
mod reader;
mod schema_watch;
mod shared;
mod status;
mod verdict;

pub use backoff::Retry;
pub use idle::IdlePace;
pub use options::{Limits, SourceOptions};
pub use status::{Phase, Status, Stopped};

pub use crate::session::{Reader, Retention, SlotReport, SlotState, probe_slot};

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::connect::ConnectOptions;
use crate::error::Error;
use crate::ident::{Ident, SlotName};
use crate::reason::Class;
use crate::session::{Wanted, open};
use crate::sink::{Sink, SinkError};
use crate::source::{ExpectedSource, Session};
use crate::telemetry::Telemetry;

use attempt::{Attempt, Bound, Carried, Ended};
use drive::within;
use status::Board;
use verdict::{Failure, Failures, Reached, Verdict};

/// Streams a slot into a sink until `stop` is cancelled or something halts it.
///
/// Transient failures are tried again with a growing delay, visible in `status`. The sink is bound anew on every connect.
///
/// # Errors
/// The precise reason of the first failure that is not transient: of the source ([`Reason`](crate::reason::Reason)),
/// or the sink's own.
///
/// # Cancel safety
/// Dropping the future closes the connection and acknowledges nothing more; what was not settled comes again. Prefer
/// `stop`, which lets what was committed become durable and leaves the server in good order.
pub async fn run<S: Sink>(
    options: SourceOptions,
    mut sink: S,
    status: watch::Sender<Status>,
    stop: CancellationToken,
) -> Result<(), Stopped<S::Error>> {
    let board = Board::new(status);
    let mut failures = Failures::default();
    let mut carried = Carried {
        telemetry: Telemetry::of(&options.slot),
        reached: Reached::Commands,
        silences: 0,
        wal_sender_timeout: None,
        attributes: schema_watch::Attributes::default(),
        bound: Bound::Never,
    };
    let outcome = loop {
        board.phase(Phase::Connecting);
        let attempt = Attempt {
            options: &options,
            sink: &mut sink,
            board: &board,
            carried: &mut carried,
            stop: &stop,
        };
        let stopped = match Box::pin(attempt.run()).await {
            // A session that streamed has left in good order; an earlier one may hold what bind took.
            Ended::Stopped if carried.reached == Reached::Commands => {
                break release(&mut sink, carried.bound, options.limits.stop).await;
            }
            Ended::Stopped => break Ok(()),
            Ended::Unfinished(stopped) => break Err(stopped),
            Ended::Failed(stopped) => stopped,
        };
        let patience = options.limits.slot_patience(carried.wal_sender_timeout);
        let failure = failure(&stopped);
        let verdict = failures.judge(
            failure,
            carried.reached,
            patience,
            &options.retry,
            Instant::now(),
        );
        carried.silences = failures.silences;
        let Verdict::Again { attempt, delay } = verdict else {
            break Err(stopped);
        };
        carried.telemetry.retrying(stopped.code(), attempt, delay);
        board.phase(Phase::Retrying {
            reason: stopped.code(),
            attempt,
            delay,
        });
        tokio::select! {
            () = sleep(delay) => {}
            () = stop.cancelled() => {
                board.phase(Phase::Stopping);
                break release(&mut sink, carried.bound, options.limits.stop).await;
            }
        }
    };
    finish(&board, &carried.telemetry, outcome)
}

/// Connects, identifies the source and reads every fact that a start would read. Creates nothing.
///
/// Without `expected` it tells who answers, for an operator to write down.
///
/// # Errors
/// As [`run`] up to the point where the sink would be bound.
///
/// # Cancel safety
/// Safe: dropping the future closes the connection.
pub async fn probe(
    connect: &ConnectOptions,
    slot: &SlotName,
    publications: &[Ident],
    expected: Option<&ExpectedSource>,
) -> Result<Session, Error> {
    let wanted = Wanted {
        slot,
        publications,
        expected,
    };
    Ok(open(connect, wanted).await?.session)
}

/// Lets a sink that was bound finish and let go, without a session.
///
/// What would have been tried again is no reason to call a requested stop a failure: nothing of it was promised to the
/// source, and it comes again.
async fn release<S: Sink>(
    sink: &mut S,
    bound: Bound,
    limit: Duration,
) -> Result<(), Stopped<S::Error>> {
    match bound {
        Bound::Never => Ok(()),
        Bound::Before => match within(limit, sink.drain()).await {
            Err(Stopped::Sink(error)) if error.class() == Class::Transient => Ok(()),
            outcome => outcome,
        },
    }
}

fn failure<E: SinkError>(stopped: &Stopped<E>) -> Failure {
    Failure {
        reason: match stopped {
            Stopped::Source(error) => Some(error.reason),
            Stopped::Sink(_) => None,
        },
        class: stopped.class(),
    }
}

fn finish<E: SinkError>(
    board: &Board,
    telemetry: &Telemetry,
    outcome: Result<(), Stopped<E>>,
) -> Result<(), Stopped<E>> {
    let reason = outcome.as_ref().err().map(Stopped::code);
    match reason {
        Some(code) => telemetry.halted(code),
        None => telemetry.stopped(),
    }
    board.phase(Phase::Stopped { reason });
    outcome
}
