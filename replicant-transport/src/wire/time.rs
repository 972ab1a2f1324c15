//! What the server's clock says: microseconds since 2000-01-01 00:00:00 UTC, as every protocol message counts them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::malformed::{Malformed, Problem};
use super::reader::Reader;

/// 2000-01-01 00:00:00 UTC, in seconds of the Unix epoch.
const EPOCH: Duration = Duration::from_secs(946_684_800);

/// Reads a timestamp.
pub(super) fn read(reader: &mut Reader<'_>, field: &'static str) -> Result<SystemTime, Malformed> {
    let micros = reader.i64(field)?;
    from_micros(micros).ok_or_else(|| reader.malformed(field, Problem::OutOfRange))
}

/// The time this many microseconds after (or before) the server's epoch.
fn from_micros(micros: i64) -> Option<SystemTime> {
    let epoch = UNIX_EPOCH.checked_add(EPOCH)?;
    let distance = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 {
        epoch.checked_sub(distance)
    } else {
        epoch.checked_add(distance)
    }
}

/// Microseconds from the server's epoch, 2000-01-01 00:00:00 UTC, to this time: what `timestamptz` is in binary.
/// Saturates some 292,000 years away from it.
pub fn to_micros(time: SystemTime) -> i64 {
    let clamp = |distance: Duration| i64::try_from(distance.as_micros()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH + EPOCH) {
        Ok(after) => clamp(after),
        Err(before) => -clamp(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_survives_both_ways_to_the_microsecond() {
        for micros in [
            0,
            1,
            -1,
            849_370_000_123_456,
            -946_684_800_000_000,
            i64::MAX,
            i64::MIN + 1,
        ] {
            assert_eq!(from_micros(micros).map(to_micros), Some(micros));
        }
        assert_eq!(from_micros(-946_684_800_000_000), Some(UNIX_EPOCH));
    }
}
