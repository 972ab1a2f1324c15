//! Where each column of a row lies: tuple data, read into a table of offsets without touching the values.

use super::malformed::{Malformed, Problem};
use super::reader::Reader;
use crate::cell::{Slot, Tuple};

/// May a value be "not sent because it did not change"?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unchanged {
    /// Only in the new image of an update.
    Possible,
    /// An inserted row and an old image are always sent whole.
    Refused,
}

/// Reads one tuple; the only allocation is its table of offsets.
pub(super) fn read(reader: &mut Reader<'_>, unchanged: Unchanged) -> Result<Tuple, Malformed> {
    let count = reader.count16("number of columns", 1)?;
    let mut slots = Vec::with_capacity(count);
    for at in 1..=count {
        let slot = read_slot(reader, unchanged).map_err(|malformed| Malformed {
            column: u16::try_from(at).ok(),
            ..malformed
        })?;
        slots.push(slot);
    }
    Tuple::new(reader.whole().clone(), slots)
        .ok_or_else(|| reader.malformed("tuple", Problem::BeyondEnd))
}

fn read_slot(reader: &mut Reader<'_>, unchanged: Unchanged) -> Result<Slot, Malformed> {
    match reader.u8("kind")? {
        b'n' => Ok(Slot::Null),
        b't' => {
            let length = reader.u32("length")?;
            let at = reader.extent("value", length)?;
            Ok(Slot::Text {
                start: at.start,
                end: at.end,
            })
        }
        b'b' => {
            let length = reader.u32("length")?;
            let at = reader.extent("value", length)?;
            Ok(Slot::Binary {
                start: at.start,
                end: at.end,
            })
        }
        b'u' if unchanged == Unchanged::Possible => Ok(Slot::Unchanged),
        b'u' => Err(reader.malformed("value", Problem::UnexpectedUnchanged)),
        _ => Err(reader.malformed("kind", Problem::Unknown)),
    }
}
