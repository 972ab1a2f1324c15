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
pub(super) fn sort_by_key_of<T: Copy>(
    table: &Table,
    images: &Images<'_>,
    items: &mut [T],
    row: impl Fn(&T) -> Row,
) {
    let keys: Vec<Part> = table
        .row_match
        .key()
        .iter()
        .map(|key| Part::of(table, key.column))
        .collect();
    let Some(first) = keys.first() else {
        return;
    };
    // Most comparisons are decided by the first bytes, which lie beside each other here.
    let mut keyed: Vec<(Prefix, T)> = items
        .iter()
        .map(|item| (first.prefix(images, row(item)), *item))
        .collect();
    keyed.sort_by(|(prefix_a, a), (prefix_b, b)| {
        prefix_a.cmp(prefix_b).then_with(|| {
            let (a, b) = (row(a), row(b));
            let mut orders = keys.iter().map(|part| part.compare(images, a, b));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    });
    for (place, (_, item)) in items.iter_mut().zip(keyed) {
        *place = item;
    }
}

/// The beginning of a key's first part: equal ones say nothing, others are ordered as the keys are.
type Prefix = (usize, [u8; 8]);

/// One column of a key.
struct Part {
    column: usize,
    /// The text of an integer: a longer one is greater.
    by_length: bool,
}

impl Part {
    fn of(table: &Table, column: usize) -> Self {
        let described = table.columns.get(column);
        Self {
            column,
            by_length: described
                .is_some_and(|column| is_text_integer(&column.travel, column.source_type.base_oid)),
        }
    }

    fn bytes<'a>(&self, images: &Images<'a>, row: Row) -> &'a [u8] {
        match images.get(row, self.column) {
            Cell::Text(bytes) | Cell::Binary(bytes) => bytes,
            Cell::Null | Cell::Unchanged => &[],
        }
    }

    fn length(&self, bytes: &[u8]) -> usize {
        if self.by_length { bytes.len() } else { 0 }
    }

    fn prefix(&self, images: &Images<'_>, row: Row) -> Prefix {
        let bytes = self.bytes(images, row);
        let mut prefix = [0; 8];
        for (place, byte) in prefix.iter_mut().zip(bytes) {
            *place = *byte;
        }
        (self.length(bytes), prefix)
    }

    fn compare(&self, images: &Images<'_>, a: Row, b: Row) -> Ordering {
        let (a, b) = (self.bytes(images, a), self.bytes(images, b));
        self.length(a).cmp(&self.length(b)).then_with(|| a.cmp(b))
    }
}

const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;

fn is_text_integer(travel: &Travel, base_oid: u32) -> bool {
    matches!(travel, Travel::Text { .. }) && matches!(base_oid, INT2 | INT4 | INT8)
}

/// Rows of one statement at most.
const STATEMENT_ROWS_MAX: usize = 4096;
/// Payload of one statement, give or take a row.
const STATEMENT_BYTES: usize = 1 << 20;

/// Rows of the statement that a destination which has nothing to do is given first: it should not wait while a large
/// one is put together.
const FIRST_STATEMENT_ROWS: usize = 512;

/// Cuts rows into statements.
pub(crate) fn chunks<'r>(
    images: &'r Images<'_>,
    rows: &'r [Row],
) -> impl Iterator<Item = &'r [Row]> + 'r {
    statements(rows, |row| images.bytes(*row))
}

/// Cuts the first rows that a waiting destination is given into statements.
pub(crate) fn first_chunks<'r>(
    images: &'r Images<'_>,
    rows: &'r [Row],
) -> impl Iterator<Item = &'r [Row]> + 'r {
    let (first, rest) = rows.split_at(rows.len().min(FIRST_STATEMENT_ROWS));
    chunks(images, first).chain(chunks(images, rest))
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
