//! Where row images live while they are planned: one arena of borrowed cells per batch, no allocation per row.

use std::fmt;

use replicant_transport::cell::Cell;

/// One image in its arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Row(u32);

/// The images of one batch, every row as wide as the table has mapped columns.
///
/// A cell is `Unchanged` when its value is not known here: the stored row has it.
pub(crate) struct Images<'a> {
    width: usize,
    cells: Vec<Cell<'a>>,
}

impl<'a> Images<'a> {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width: width.max(1),
            cells: Vec::new(),
        }
    }

    /// Appends a row. Cells beyond the width are dropped, missing ones are unknown.
    pub(crate) fn push(&mut self, cells: impl Iterator<Item = Cell<'a>>) -> Row {
        let start = self.cells.len();
        let index = u32::try_from(start / self.width).unwrap_or(u32::MAX);
        self.cells.extend(cells.take(self.width));
        self.cells.resize(start + self.width, Cell::Unchanged);
        Row(index)
    }

    /// How many rows there are; a mark to return to.
    pub(crate) fn mark(&self) -> usize {
        self.cells.len()
    }

    /// Forgets every row pushed since the mark.
    pub(crate) fn forget_since(&mut self, mark: usize) {
        self.cells.truncate(mark);
    }

    pub(crate) fn row(&self, row: Row) -> &[Cell<'a>] {
        let start = row.0 as usize * self.width;
        self.cells
            .get(start..start + self.width)
            .unwrap_or_default()
    }

    pub(crate) fn get(&self, row: Row, column: usize) -> Cell<'a> {
        self.row(row)
            .get(column)
            .copied()
            .unwrap_or(Cell::Unchanged)
    }

    pub(crate) fn set(&mut self, row: Row, column: usize, cell: Cell<'a>) {
        let at = row.0 as usize * self.width + column;
        if column < self.width
            && let Some(place) = self.cells.get_mut(at)
        {
            *place = cell;
        }
    }

    /// Copies into `to` every cell that is known in `from`.
    pub(crate) fn overlay(&mut self, to: Row, from: Row) {
        for column in 0..self.width {
            let cell = self.get(from, column);
            if cell != Cell::Unchanged {
                self.set(to, column, cell);
            }
        }
    }

    /// Copies into `to` what is unknown there and known in `from`.
    pub(crate) fn complete(&mut self, to: Row, from: Row) {
        for column in 0..self.width {
            if self.get(to, column) == Cell::Unchanged {
                let cell = self.get(from, column);
                self.set(to, column, cell);
            }
        }
    }

    /// Payload bytes of a row.
    pub(crate) fn bytes(&self, row: Row) -> usize {
        self.row(row).iter().map(|cell| cell.len()).sum()
    }
}

impl fmt::Debug for Images<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Images({} rows)", self.cells.len() / self.width)
    }
}

/// A set of a table's columns, by index.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct ColumnSet(Vec<u64>);

impl ColumnSet {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn insert(&mut self, column: usize) {
        let word = column / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= 1 << (column % 64);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn contains(&self, column: usize) -> bool {
        self.0
            .get(column / 64)
            .is_some_and(|bits| bits & (1 << (column % 64)) != 0)
    }
}
