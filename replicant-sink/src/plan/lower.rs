//! Which sets of rows one statement can write: by what is done, by which columns are known, sorted by key.

use std::cmp::Ordering;

use replicant_transport::cell::Cell;

use super::fold::{Folded, Net};
use super::image::{ColumnSet, Images, Row};
use crate::generation::{Table, Travel};

/// What a statement does with a set of rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub(crate) enum Verb {
    /// Deletes rows that were there.
    Depart,
    /// Deletes rows that may be there.
    Delete,
    /// Updates rows that are there.
    Update,
    /// Inserts or replaces.
    Upsert,
    /// Inserts rows with a key they had not before.
    Arrive,
    /// Inserts.
    Insert,
}

/// One kind of write with one set of columns, over rows sorted by key.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) verb: Verb,
    /// The columns written; empty for deletes.
    pub(crate) columns: ColumnSet,
    pub(crate) rows: Vec<Row>,
}

/// The operations of a batch in the order they are written: deletes, updates, inserts.
pub(crate) fn lower(table: &Table, folded: &Folded<'_>) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    let mut columns = ColumnSet::default();
    for effect in &folded.effects {
        let verb = match effect.net {
            Net::Insert => Verb::Insert,
            Net::Arrive => Verb::Arrive,
            Net::Upsert => Verb::Upsert,
            Net::Update => Verb::Update,
            Net::Delete => Verb::Delete,
            Net::Depart => Verb::Depart,
        };
        columns.clear();
        if !matches!(verb, Verb::Delete | Verb::Depart) {
            known_columns(&folded.images, effect.row, &mut columns);
        }
        if verb == Verb::Update && !sets_anything(table, &columns) {
            continue;
        }
        let found = operations
            .iter_mut()
            .find(|operation| operation.verb == verb && operation.columns == columns);
        match found {
            Some(operation) => operation.rows.push(effect.row),
            None => operations.push(Operation {
                verb,
                columns: columns.clone(),
                rows: vec![effect.row],
            }),
        }
    }
    operations.sort_by_key(|operation| operation.verb);
    for operation in &mut operations {
        sort_by_key(table, &folded.images, &mut operation.rows);
    }
    operations
}

/// The columns whose values are known.
pub(crate) fn known_columns(images: &Images<'_>, row: Row, columns: &mut ColumnSet) {
    for (column, cell) in images.row(row).iter().enumerate() {
        if *cell != Cell::Unchanged {
            columns.insert(column);
        }
    }
}

/// Is there anything an update by key may set? Key and identity columns stay as they are.
pub(crate) fn sets_anything(table: &Table, columns: &ColumnSet) -> bool {
    let keys = table.row_match.key();
    table.columns.iter().enumerate().any(|(index, column)| {
        columns.contains(index)
            && !column.target_identity
            && keys.iter().all(|key| key.column != index)
    })
}

/// Sorts by key so that index pages are visited once and every group locks rows in the same order. Any total order
/// does; this one follows the index for integers, uuids and byte-ordered text.
fn sort_by_key(table: &Table, images: &Images<'_>, rows: &mut [Row]) {
    sort_by_key_of(table, images, rows, |row| *row);
}

/// Sorts what has a key; what has the same one stays in order.
pub(super) fn sort_by_key_of<T>(
    table: &Table,
    images: &Images<'_>,
    items: &mut [T],
    row: impl Fn(&T) -> Row,
) {
    let keys = table.row_match.key();
    items.sort_by(|a, b| {
        let (a, b) = (row(a), row(b));
        for key in keys {
            let by_length = table
                .columns
                .get(key.column)
                .is_some_and(|column| is_text_integer(&column.travel, column.source_type.base_oid));
            let order = compare(
                images.get(a, key.column),
                images.get(b, key.column),
                by_length,
            );
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    });
}

const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;

fn is_text_integer(travel: &Travel, base_oid: u32) -> bool {
    matches!(travel, Travel::Text { .. }) && matches!(base_oid, INT2 | INT4 | INT8)
}

fn compare(a: Cell<'_>, b: Cell<'_>, by_length: bool) -> Ordering {
    let bytes = |cell| match cell {
        Cell::Text(bytes) | Cell::Binary(bytes) => bytes,
        Cell::Null | Cell::Unchanged => &[],
    };
    let (a, b): (&[u8], &[u8]) = (bytes(a), bytes(b));
    let lengths = if by_length {
        a.len().cmp(&b.len())
    } else {
        Ordering::Equal
    };
    lengths.then_with(|| a.cmp(b))
}

/// Rows of one statement at most.
const STATEMENT_ROWS_MAX: usize = 4096;
/// Payload of one statement, give or take a row.
const STATEMENT_BYTES: usize = 1 << 20;

/// Cuts rows into statements.
pub(crate) fn chunks<'r>(
    images: &'r Images<'_>,
    rows: &'r [Row],
) -> impl Iterator<Item = &'r [Row]> + 'r {
    statements(rows, |row| images.bytes(*row))
}

/// Cuts what is written row by row into statements.
pub(crate) fn statements<'r, T>(
    items: &'r [T],
    bytes_of: impl Fn(&T) -> usize + 'r,
) -> impl Iterator<Item = &'r [T]> + 'r {
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut bytes = 0usize;
        let mut count = 0usize;
        for item in rest.iter().take(STATEMENT_ROWS_MAX) {
            bytes = bytes.saturating_add(bytes_of(item));
            count += 1;
            if bytes >= STATEMENT_BYTES {
                break;
            }
        }
        let (chunk, tail) = rest.split_at_checked(count)?;
        rest = tail;
        (!chunk.is_empty()).then_some(chunk)
    })
}
