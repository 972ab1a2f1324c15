//! Where the crash tests kill the process: named steps of the flow, compiled in only with the `failpoints` feature.
//!
//! `REPLICANT_FAILPOINT=name` or `name:3` (the third time it is reached) aborts the process at that step, which no
//! destructor survives, exactly as a SIGKILL would.

/// A named step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The checkpoint is bound, the slot not looked at yet.
    Bound,
    /// The starting positions are durable.
    Originated,
    /// A group was taken from the queue.
    GroupTaken,
    /// The destination transaction is open and the watermark row locked.
    Opened,
    /// A part of a large transaction is applied, its commit has not arrived.
    PartApplied,
    /// A hook ran its actions; the row it belongs to is not written. Only mirrors with such hooks pass it.
    HookRan,
    /// Every row is written; the watermark is not.
    Applied,
    /// The destination transaction is committed; nobody was told.
    Committed,
    /// Receipts are settled and reported to the transport.
    Reported,
    /// An idle position is recorded; nobody was told.
    IdleRecorded,
}

impl Step {
    /// Every step that any mirror passes, in the order of the flow.
    pub const ALL: &'static [Self] = &[
        Self::Bound,
        Self::Originated,
        Self::GroupTaken,
        Self::Opened,
        Self::PartApplied,
        Self::Applied,
        Self::Committed,
        Self::Reported,
        Self::IdleRecorded,
    ];

    /// The name used in `REPLICANT_FAILPOINT`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bound => "bound",
            Self::Originated => "originated",
            Self::GroupTaken => "group_taken",
            Self::Opened => "opened",
            Self::PartApplied => "part_applied",
            Self::HookRan => "hook_ran",
            Self::Applied => "applied",
            Self::Committed => "committed",
            Self::Reported => "reported",
            Self::IdleRecorded => "idle_recorded",
        }
    }
}

/// Passes this step, or ends the process there when a test asked for it.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub(crate) fn pass(_: Step) {}

/// Passes this step, or ends the process there when a test asked for it.
#[cfg(feature = "failpoints")]
pub(crate) fn pass(step: Step) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static ARMED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static REACHED: AtomicU64 = AtomicU64::new(0);

    let armed = ARMED.get_or_init(|| {
        let value = std::env::var("REPLICANT_FAILPOINT").ok()?;
        match value.split_once(':') {
            Some((name, times)) => Some((name.to_owned(), times.parse().ok()?)),
            None => Some((value, 1)),
        }
    });
    if let Some((name, times)) = armed
        && name == step.name()
        && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == *times
    {
        std::process::abort();
    }
}
