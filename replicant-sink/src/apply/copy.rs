//! How whole rows are inserted by COPY: binary cells as they are, text cells escaped.
//!
//! Source: PostgreSQL documentation, "COPY", File Formats.

use std::pin::pin;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt as _;
use replicant_transport::cell::Cell;
use tokio_postgres::{Client, CopyInSink, Statement};

use super::fault::Failure;
use super::parameter::{NotSent, put_value};
use crate::generation::{CopyBinary, Table, Travel};
use crate::plan::{ColumnSet, Images, Row};
use crate::seal::Seals;

/// Below this many rows a set statement is faster: COPY costs a round trip of its own.
pub(crate) const COPY_ROWS_MIN: usize = 256;
/// Bytes handed to the connection at once.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;

pub(super) const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// How the fields of a COPY are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum CopyFormat {
    Binary,
    Text,
}

/// Do all columns travel in one format that COPY takes as it is?
pub(crate) fn can_copy(table: &Table, columns: &ColumnSet) -> bool {
    copy_format(table, columns).is_some()
}

/// The one format in which all columns travel and which COPY takes as it is; `None` when there is none.
pub(crate) fn copy_format(table: &Table, columns: &ColumnSet) -> Option<CopyFormat> {
    let mut format = None;
    for (index, column) in table.columns.iter().enumerate() {
        if !columns.contains(index) {
            continue;
        }
        let travels = match &column.travel {
            Travel::Binary {
                copy: CopyBinary::Same,
                ..
            } => CopyFormat::Binary,
            Travel::Binary {
                copy: CopyBinary::NeedsCast,
                ..
            } => return None,
            Travel::Text { .. } => CopyFormat::Text,
            // An envelope is a field of either format.
            Travel::Sealed => continue,
        };
        if *format.get_or_insert(travels) != travels {
            return None;
        }
    }
    format
}

/// Copies the rows in and answers how many the destination took.
pub(crate) async fn copy(
    client: &Client,
    statement: &Statement,
    table: &Table,
    columns: &ColumnSet,
    images: &Images<'_>,
    rows: &[Row],
) -> Result<u64, Failure> {
    let fault = |error: tokio_postgres::Error| Failure::of(&error, Some(table));
    let sink: CopyInSink<Bytes> = client.copy_in(statement).await.map_err(fault)?;
    let mut sink = pin!(sink);
    let indices: Vec<usize> = (0..table.columns.len())
        .filter(|index| columns.contains(*index))
        .collect();
    let binary = table
        .columns
        .iter()
        .any(|column| matches!(column.travel, Travel::Binary { .. }));
    let mut buffer = BytesMut::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 4);
    if binary {
        buffer.put_slice(SIGNATURE);
        buffer.put_i32(0);
        buffer.put_i32(0);
    }
    for row in rows {
        let written = if binary {
            put_binary_row(images.row(*row), &indices, &table.seals, &mut buffer)
        } else {
            put_text_row(images.row(*row), &indices, &table.seals, &mut buffer)
        };
        written.map_err(|NotSent| Failure::internal(&table.shown))?;
        if buffer.len() >= CHUNK_BYTES {
            sink.send(buffer.split().freeze()).await.map_err(fault)?;
            buffer.reserve(CHUNK_BYTES + CHUNK_BYTES / 4);
        }
    }
    if binary {
        buffer.put_i16(-1);
    }
    sink.send(buffer.freeze()).await.map_err(fault)?;
    sink.finish().await.map_err(fault)
}

fn put_binary_row(
    image: &[Cell<'_>],
    columns: &[usize],
    seals: &Seals,
    out: &mut BytesMut,
) -> Result<(), NotSent> {
    out.put_i16(i16::try_from(columns.len()).map_err(|_| NotSent)?);
    for column in columns {
        put_value(image, *column, seals, out)?;
    }
    Ok(())
}

fn put_text_row(
    image: &[Cell<'_>],
    columns: &[usize],
    seals: &Seals,
    out: &mut BytesMut,
) -> Result<(), NotSent> {
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            out.put_u8(b'\t');
        }
        put_text_value(image, *column, seals, out)?;
    }
    out.put_u8(b'\n');
    Ok(())
}

/// One value of an image as a field of the text format, sealed where its column is.
pub(super) fn put_text_value(
    image: &[Cell<'_>],
    column: usize,
    seals: &Seals,
    out: &mut BytesMut,
) -> Result<(), NotSent> {
    if let Some(envelope) = seals.envelope(image, column)? {
        put_bytea(&envelope, out);
        return Ok(());
    }
    match image.get(column) {
        Some(Cell::Null) => out.put_slice(b"\\N"),
        Some(Cell::Text(bytes)) => put_escaped(bytes, out),
        Some(Cell::Binary(envelope)) if seals.has(column) => put_bytea(envelope, out),
        Some(Cell::Binary(_) | Cell::Unchanged) | None => return Err(NotSent),
    }
    Ok(())
}

/// A `bytea` in its hexadecimal form, whose one backslash is escaped.
fn put_bytea(bytes: &[u8], out: &mut BytesMut) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(3 + 2 * bytes.len());
    out.put_slice(b"\\\\x");
    for byte in bytes {
        for digit in [byte >> 4, byte & 0xF] {
            out.put_u8(DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0'));
        }
    }
}

/// Backslash, newline, carriage return and tab are the only bytes that COPY's text format reads specially.
pub(super) fn put_escaped(bytes: &[u8], out: &mut BytesMut) {
    out.reserve(bytes.len());
    for part in bytes.split_inclusive(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | b'\t')) {
        let Some((last, plain)) = part.split_last() else {
            continue;
        };
        let escape = match last {
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            _ => {
                out.put_slice(part);
                continue;
            }
        };
        out.put_slice(plain);
        out.put_slice(escape);
    }
}
