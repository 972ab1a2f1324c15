//! When is a group worth taking? At once when the source has sent all it had; while more is on its way, a moment
//! later.
//!
//! Each group costs a savepoint, a few round trips and a flush of the destination's WAL, and many rows at a time cost
//! less each. A backlog is therefore gathered a little, while whoever waits for a lone transaction waits for nothing.

use std::time::Duration;

use super::GroupLimits;

/// A group of this many rows gains little by growing.
const ROWS_ENOUGH: usize = 2_000;
/// The same in bytes.
const BYTES_ENOUGH: usize = 1024 * 1024;
/// The longest that whole transactions wait for others; a source that does not tell is not waited for.
pub(super) const GATHER_MAX: Duration = Duration::from_millis(10);

/// Has the source more to send?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Source {
    /// It has not said that it sent everything.
    #[default]
    Sending,
    /// It said so, and nothing came since.
    CaughtUp,
}

/// A transaction of this many rows is not waited for to its end when the destination has nothing else to do.
const PART_ROWS: usize = 4_000;

/// Is so much of a transaction there that its beginning may be written before its end is known?
///
/// Waiting for a whole group of it would leave the destination idle meanwhile. It has a price: a transaction that was
/// begun in parts is not tried again after contention, the source sends it again.
pub(super) fn is_part(limits: GroupLimits, rows: usize, bytes: usize) -> bool {
    rows >= limits.rows_max.min(PART_ROWS) || bytes >= limits.bytes_max.min(BYTES_ENOUGH)
}

/// Is what is queued enough, whatever else comes?
pub(super) fn is_enough(limits: GroupLimits, rows: usize, bytes: usize) -> bool {
    rows >= limits.rows_max.min(ROWS_ENOUGH) || bytes >= limits.bytes_max.min(BYTES_ENOUGH)
}
