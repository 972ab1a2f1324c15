//! Row values: what one column holds, without copying it and without ever printing it.
//!
//! A [`Tuple`] keeps the message it arrived in and a table of offsets, so decoding a row allocates once. Nothing
//! here implements `Display` or serialisation, and `Debug` shows shapes only: every value is assumed secret.

use std::fmt;

use bytes::Bytes;

/// One column's value as the server sent it, borrowed from its row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// SQL NULL.
    Null,
    /// An out-of-line value that the server did not send because the statement did not change it. It is not NULL
    /// and nothing may turn it into NULL.
    Unchanged,
    /// The type's text output under the pinned session settings.
    Text(&'a [u8]),
    /// The type's binary send format.
    Binary(&'a [u8]),
}

impl Cell<'_> {
    /// Bytes of payload; zero for `Null` and `Unchanged`.
    pub fn len(self) -> usize {
        match self {
            Self::Null | Self::Unchanged => 0,
            Self::Text(bytes) | Self::Binary(bytes) => bytes.len(),
        }
    }

    /// True when there is no payload.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Unchanged => f.write_str("Unchanged"),
            Self::Text(bytes) => write!(f, "Text({} bytes)", bytes.len()),
            Self::Binary(bytes) => write!(f, "Binary({} bytes)", bytes.len()),
        }
    }
}

/// Where one cell lies in its tuple's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// SQL NULL.
    Null,
    /// Not sent.
    Unchanged,
    /// Text at `start..end`.
    Text {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
    /// Binary at `start..end`.
    Binary {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
}

/// One row image: a shared buffer and where each column lies in it.
///
/// The buffer is the message, which itself is a slice of what was read from the socket: a tuple kept for long keeps
/// that whole read alive. Copy what has to outlive its transaction.
#[derive(Clone)]
pub struct Tuple {
    bytes: Bytes,
    slots: Box<[Slot]>,
}

impl Tuple {
    /// A tuple over `bytes`. `None` when a slot lies outside them.
    pub fn new(bytes: Bytes, slots: Vec<Slot>) -> Option<Self> {
        let inside = slots.iter().all(|slot| match *slot {
            Slot::Null | Slot::Unchanged => true,
            Slot::Text { start, end } | Slot::Binary { start, end } => {
                bytes.get(start as usize..end as usize).is_some()
            }
        });
        inside.then(|| Self {
            bytes,
            slots: slots.into_boxed_slice(),
        })
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True for the row of a table without columns.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The cell of column `index`, in the order of the relation's columns.
    pub fn get(&self, index: usize) -> Option<Cell<'_>> {
        self.slots.get(index).map(|slot| self.cell(*slot))
    }

    /// All cells in column order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cell<'_>> + '_ {
        self.slots.iter().map(|slot| self.cell(*slot))
    }

    /// Bytes this tuple keeps in memory: the message it shares with its sibling image, and its table of offsets.
    pub fn resident(&self) -> Resident {
        Resident {
            message: self.bytes.len(),
            offsets: std::mem::size_of_val::<[Slot]>(&self.slots),
        }
    }

    /// Payload bytes of all cells together, without the buffer around them.
    pub fn payload_bytes(&self) -> usize {
        self.iter().map(Cell::len).sum()
    }

    fn cell(&self, slot: Slot) -> Cell<'_> {
        // The constructor proved that every range lies inside; an empty slice is the unreachable alternative.
        let at = |start: u32, end: u32| {
            self.bytes
                .get(start as usize..end as usize)
                .unwrap_or_default()
        };
        match slot {
            Slot::Null => Cell::Null,
            Slot::Unchanged => Cell::Unchanged,
            Slot::Text { start, end } => Cell::Text(at(start, end)),
            Slot::Binary { start, end } => Cell::Binary(at(start, end)),
        }
    }
}

/// Tuples are equal when their cells are, wherever they lie.
impl PartialEq for Tuple {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Tuple {}

/// What a tuple keeps in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resident {
    /// Bytes of the message, shared by the old and new image of one update.
    pub message: usize,
    /// Bytes of the table of offsets.
    pub offsets: usize,
}

impl fmt::Debug for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Bytes of the stream that are not a cell and still must not be printed: a logical message's prefix and content,
/// names that nothing here interprets.
#[derive(Clone, PartialEq, Eq)]
pub struct Opaque(Bytes);

impl Opaque {
    /// Wraps bytes.
    pub fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, shared.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_never_prints_its_values() {
        let bytes = Bytes::from_static(b"secret");
        let tuple = Tuple::new(
            bytes,
            vec![Slot::Text { start: 0, end: 6 }, Slot::Null, Slot::Unchanged],
        )
        .unwrap();
        assert_eq!(format!("{tuple:?}"), "[Text(6 bytes), Null, Unchanged]");
        assert_eq!(tuple.get(0), Some(Cell::Text(b"secret")));
        assert_eq!(tuple.get(3), None);
    }

    #[test]
    fn a_slot_outside_the_bytes_is_refused() {
        for (start, end) in [(0, 7), (4, 3), (u32::MAX, u32::MAX)] {
            let bytes = Bytes::from_static(b"secret");
            assert!(
                Tuple::new(bytes, vec![Slot::Binary { start, end }]).is_none(),
                "{start}..{end}"
            );
        }
    }
}
