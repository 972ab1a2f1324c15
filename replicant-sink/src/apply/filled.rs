//! How rows with columns that the sink fills are sent: versions of a history, events of a log.
//!
//! Such a row is an image and some stamps. A statement takes one array per column of both, or a COPY takes them as
//! fields.

use std::error::Error;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt as _;
use postgres_types::{IsNull, ToSql, Type};
use replicant_checkpoint::contract::resource::Role;
use replicant_transport::cell::Cell;
use tokio_postgres::{Client, CopyInSink, Statement};

use super::copy::{CHUNK_BYTES, CopyFormat, SIGNATURE, put_escaped, put_text_value};
use super::fault::Failure;
use super::parameter::{NotSent, put_value};
use super::stamp::Stamp;
use crate::generation::Table;
use crate::plan::{ColumnSet, Images, Row};
use crate::seal::Seals;

/// What one parameter of a statement holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// A column of the row itself.
    Own(usize),
    /// A key column of the row whose values are carried over.
    Carrier(usize),
    /// The LSN at which the carried row was closed or opened.
    CarrierLsn,
    /// The last opening LSN that a closing reaches.
    Reach,
    /// What the sink fills in.
    Role(Role),
}

/// One parameter: an array with an element per row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FilledParameter {
    pub(crate) slot: Slot,
    /// Object id of the array's elements.
    pub(crate) element: u32,
    /// Object id of the array.
    pub(crate) array: u32,
}

/// A prepared statement and what it takes.
#[derive(Debug)]
pub(crate) struct FilledPrepared {
    pub(crate) statement: Statement,
    pub(crate) parameters: Vec<FilledParameter>,
    /// What seals them.
    pub(crate) seals: Arc<Seals>,
}

/// What one parameter of a row holds.
pub(crate) enum Value<'v> {
    /// This column of this image.
    Cell(&'v [Cell<'v>], usize),
    Stamp(Stamp<'v>),
}

impl Value<'_> {
    fn is_null(&self) -> bool {
        match self {
            Self::Cell(image, column) => image.get(*column) == Some(&Cell::Null),
            Self::Stamp(stamp) => *stamp == Stamp::Null,
        }
    }
}

/// Rows of one kind, and what stands in their columns.
pub(crate) trait Filled {
    /// One row.
    type Item;

    /// The row's image.
    fn row(&self, item: &Self::Item) -> Row;

    /// What the sink fills in for it.
    fn stamp<'s>(&'s self, item: &'s Self::Item, slot: Slot) -> Stamp<'s>;

    /// The image whose values are carried over into it.
    fn carrier(&self, item: &Self::Item) -> Option<Row>;

    /// The images.
    fn images(&self) -> &Images<'_>;

    /// What a parameter holds for one row.
    fn value<'s>(&'s self, item: &'s Self::Item, slot: Slot) -> Value<'s> {
        match slot {
            Slot::Own(column) => Value::Cell(self.images().row(self.row(item)), column),
            Slot::Carrier(column) => match self.carrier(item) {
                Some(row) => Value::Cell(self.images().row(row), column),
                None => Value::Stamp(Stamp::Null),
            },
            Slot::CarrierLsn | Slot::Reach | Slot::Role(_) => Value::Stamp(self.stamp(item, slot)),
        }
    }
}

/// One parameter of some rows.
pub(crate) struct FilledArray<'p, F: Filled> {
    filled: &'p F,
    items: &'p [F::Item],
    parameter: FilledParameter,
    seals: &'p Seals,
}

impl<'p, F: Filled> FilledArray<'p, F> {
    /// The arrays of a statement, in order.
    pub(crate) fn all(
        filled: &'p F,
        items: &'p [F::Item],
        prepared: &'p FilledPrepared,
    ) -> Vec<Self> {
        let parameters = prepared.parameters.iter();
        parameters
            .map(|parameter| Self {
                filled,
                items,
                parameter: *parameter,
                seals: &prepared.seals,
            })
            .collect()
    }
}

impl<F: Filled> fmt::Debug for FilledArray<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FilledArray({} rows)", self.items.len())
    }
}

impl<F: Filled> ToSql for FilledArray<'_, F> {
    fn to_sql(
        &self,
        _ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let slot = self.parameter.slot;
        let mut items = self.items.iter();
        let nulls = items.any(|item| self.filled.value(item, slot).is_null());
        out.put_i32(1);
        out.put_i32(i32::from(nulls));
        out.put_u32(self.parameter.element);
        out.put_i32(i32::try_from(self.items.len())?);
        out.put_i32(1);
        for item in self.items {
            match self.filled.value(item, slot) {
                Value::Cell(image, column) => put_value(image, column, self.seals, out)?,
                Value::Stamp(stamp) => stamp.put_element(out)?,
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }

    postgres_types::to_sql_checked!();
}

/// The fields of a COPY in column order: the known columns of the image, then the stamps.
pub(crate) fn copy_slots(table: &Table, columns: &ColumnSet, roles: &[Role]) -> Vec<Slot> {
    let own = (0..table.columns.len()).filter(|index| columns.contains(*index));
    own.map(Slot::Own)
        .chain(roles.iter().copied().map(Slot::Role))
        .collect()
}

/// Copies the rows in and answers how many the destination took.
pub(crate) async fn copy_filled<F: Filled>(
    client: &Client,
    statement: &Statement,
    table: &Table,
    (filled, items): (&F, &[F::Item]),
    (slots, format): (&[Slot], CopyFormat),
) -> Result<u64, Failure> {
    let fault = |error: tokio_postgres::Error| Failure::of(&error, Some(table));
    let sink: CopyInSink<Bytes> = client.copy_in(statement).await.map_err(fault)?;
    let mut sink = pin!(sink);
    let mut buffer = BytesMut::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4);
    if format == CopyFormat::Binary {
        buffer.put_slice(SIGNATURE);
        buffer.put_i32(0);
        buffer.put_i32(0);
    }
    for item in items {
        let written = match format {
            CopyFormat::Binary => put_binary(filled, item, slots, &table.seals, &mut buffer),
            CopyFormat::Text => put_text(filled, item, slots, &table.seals, &mut buffer),
        };
        written.map_err(|NotSent| Failure::internal(&table.shown))?;
        if buffer.len() >= CHUNK_BYTES {
            sink.send(buffer.split().freeze()).await.map_err(fault)?;
            buffer.reserve(CHUNK_BYTES + CHUNK_BYTES / 4);
        }
    }
    if format == CopyFormat::Binary {
        buffer.put_i16(-1);
    }
    sink.send(buffer.freeze()).await.map_err(fault)?;
    sink.finish().await.map_err(fault)
}

fn put_binary<F: Filled>(
    filled: &F,
    item: &F::Item,
    slots: &[Slot],
    seals: &Seals,
    out: &mut BytesMut,
) -> Result<(), NotSent> {
    out.put_i16(i16::try_from(slots.len()).map_err(|_| NotSent)?);
    for slot in slots {
        match filled.value(item, *slot) {
            Value::Cell(image, column) => put_value(image, column, seals, out)?,
            Value::Stamp(stamp) => stamp.put_field(out)?,
        }
    }
    Ok(())
}

fn put_text<F: Filled>(
    filled: &F,
    item: &F::Item,
    slots: &[Slot],
    seals: &Seals,
    out: &mut BytesMut,
) -> Result<(), NotSent> {
    for (place, slot) in slots.iter().enumerate() {
        if place > 0 {
            out.put_u8(b'\t');
        }
        match filled.value(item, *slot) {
            Value::Cell(image, column) => put_text_value(image, column, seals, out)?,
            Value::Stamp(Stamp::Null) => out.put_slice(b"\\N"),
            Value::Stamp(stamp) => {
                let text = stamp.text().ok_or(NotSent)?;
                put_escaped(text.as_bytes(), out);
            }
        }
    }
    out.put_u8(b'\n');
    Ok(())
}
