//! How cells become a statement parameter: one binary array per column, written straight into the message buffer.
//!
//! A binary cell is byte for byte a binary array element of its type, a text cell one of `text`.
//! Source: PostgreSQL's `array_recv` reads: dimensions, null flag, element type, then per dimension length and lower
//! bound, then each element as length and bytes.

use std::error::Error;
use std::fmt;

use bytes::{BufMut, BytesMut};
use postgres_types::{IsNull, ToSql, Type};
use replicant_transport::cell::Cell;

use super::sql::Parameter;
use crate::plan::{Images, Row};
use crate::seal::Seals;
use crate::seal::columns::Unsealed;

/// One column of some rows.
#[derive(Clone, Copy)]
pub(crate) struct ArrayOf<'p, 'a> {
    images: &'p Images<'a>,
    rows: &'p [Row],
    column: usize,
    element: u32,
    seals: &'p Seals,
}

impl<'p, 'a> ArrayOf<'p, 'a> {
    pub(crate) fn new(
        images: &'p Images<'a>,
        rows: &'p [Row],
        parameter: &Parameter,
        seals: &'p Seals,
    ) -> Self {
        Self {
            images,
            rows,
            column: parameter.column,
            element: parameter.element,
            seals,
        }
    }
}

impl fmt::Debug for ArrayOf<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayOf({} cells)", self.rows.len())
    }
}

/// A value that is not known here cannot be a parameter, or an array is too large for the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotSent;

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a parameter could not be written")
    }
}

impl Error for NotSent {}

impl From<Unsealed> for NotSent {
    fn from(Unsealed: Unsealed) -> Self {
        Self
    }
}

impl ToSql for ArrayOf<'_, '_> {
    fn to_sql(
        &self,
        _ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let cells = || {
            self.rows
                .iter()
                .map(|row| self.images.get(*row, self.column))
        };
        out.put_i32(1);
        out.put_i32(i32::from(cells().any(|cell| cell == Cell::Null)));
        out.put_u32(self.element);
        out.put_i32(i32::try_from(self.rows.len())?);
        out.put_i32(1);
        for row in self.rows {
            put_value(self.images.row(*row), self.column, self.seals, out)?;
        }
        Ok(IsNull::No)
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }

    postgres_types::to_sql_checked!();
}

/// One value of an image, sealed where its column is: length and bytes, as in an array element and as in a binary COPY
/// field.
pub(crate) fn put_value(
    image: &[Cell<'_>],
    column: usize,
    seals: &Seals,
    out: &mut BytesMut,
) -> Result<(), NotSent> {
    match seals.envelope(image, column)? {
        Some(envelope) => put_cell(Cell::Binary(&envelope), out),
        None => put_cell(image.get(column).copied().unwrap_or(Cell::Unchanged), out),
    }
}

/// Length and bytes, as in an array element and as in a binary COPY field.
pub(crate) fn put_cell(cell: Cell<'_>, out: &mut BytesMut) -> Result<(), NotSent> {
    match cell {
        Cell::Null => out.put_i32(-1),
        Cell::Unchanged => return Err(NotSent),
        Cell::Text(bytes) | Cell::Binary(bytes) => {
            out.put_i32(i32::try_from(bytes.len()).map_err(|_| NotSent)?);
            out.put_slice(bytes);
        }
    }
    Ok(())
}
