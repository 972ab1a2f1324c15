//! What happened to one row: Insert, Update and Delete.

use super::malformed::{Malformed, Problem};
use super::reader::Reader;
use super::tuple::{self, Unchanged};
use crate::cell::Tuple;
use crate::change::OldRow;

/// `I`: a row appeared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Insert {
    /// Object id of its table.
    pub relation: u32,
    /// The row; no cell is `Unchanged`.
    pub new: Tuple,
}

/// `U`: a row changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// Object id of its table.
    pub relation: u32,
    /// The old image, when the server sent one.
    pub old: Option<OldRow>,
    /// The new image.
    pub new: Tuple,
}

/// `D`: a row went away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delete {
    /// Object id of its table.
    pub relation: u32,
    /// Its identity, or all of it.
    pub old: OldRow,
}

impl Insert {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let relation = reader.u32("relation id")?;
        match reader.u8("tuple kind")? {
            b'N' => Ok(Self {
                relation,
                new: tuple::read(reader, Unchanged::Refused)?,
            }),
            _ => Err(reader.malformed("tuple kind", Problem::Unknown)),
        }
    }
}

impl Update {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let relation = reader.u32("relation id")?;
        let (old, kind) = match reader.u8("tuple kind")? {
            b'N' => (None, b'N'),
            kind => (
                Some(read_old(reader, kind)?),
                reader.u8("new tuple's kind")?,
            ),
        };
        if kind != b'N' {
            return Err(reader.malformed("new tuple's kind", Problem::Unknown));
        }
        Ok(Self {
            relation,
            old,
            new: tuple::read(reader, Unchanged::Possible)?,
        })
    }
}

impl Delete {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let relation = reader.u32("relation id")?;
        let kind = reader.u8("tuple kind")?;
        Ok(Self {
            relation,
            old: read_old(reader, kind)?,
        })
    }
}

fn read_old(reader: &mut Reader<'_>, kind: u8) -> Result<OldRow, Malformed> {
    match kind {
        b'K' => tuple::read(reader, Unchanged::Refused).map(OldRow::Key),
        b'O' => tuple::read(reader, Unchanged::Refused).map(OldRow::Full),
        _ => Err(reader.malformed("tuple kind", Problem::Unknown)),
    }
}
