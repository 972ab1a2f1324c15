//! Which events a run of changes appends: one per change, never folded, each with its place in the source's history.

use std::sync::Arc;

use replicant_transport::cell::Cell;
use replicant_transport::change::{ChangeKind, OldRow, Ordinal};
use replicant_transport::error::Site;

use super::effect::{View, is_whole};
use super::image::{ColumnSet, Images, Row};
use super::moment::Moment;
use super::resolve::Mapping;
use super::tenants::Scoped;
use crate::error::Error;
use crate::generation::{Image, Table};
use crate::reason::Reason;

/// What happened to a row, or to all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Happened {
    Insert,
    Update,
    Delete,
    Truncate,
}

impl Happened {
    /// What the operation column says.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Truncate => "truncate",
        }
    }
}

/// One row of the log.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The row as the change left it, the deleted row, or NULLs for a truncate; before images beside it.
    pub(crate) row: Row,
    pub(crate) happened: Happened,
    pub(crate) at: Moment,
    pub(crate) ordinal: i64,
    /// Columns whose value the update did not touch.
    pub(crate) unchanged: ColumnSet,
}

/// Events of one table in source order.
#[derive(Debug)]
pub(crate) struct Events<'a> {
    pub(crate) images: Images<'a>,
    pub(crate) events: Vec<Event>,
    pub(crate) mapping: Arc<Mapping>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(table: &Table, mapping: Arc<Mapping>) -> Self {
        Self {
            images: Images::new(table.columns.len()),
            events: Vec::new(),
            mapping,
        }
    }

    /// Appends the event of a row change.
    ///
    /// # Errors
    /// `row_incomplete` when a value of the row, or its old image, was not sent; `change_unsupported`.
    pub(crate) fn push(
        &mut self,
        table: &Table,
        scoped: Scoped<'a>,
        number: Ordinal,
        at: Moment,
    ) -> Result<(), Error> {
        let mapping = Arc::clone(&self.mapping);
        let view = View {
            table,
            mapping: &mapping,
        };
        let images = &mut self.images;
        let mut unchanged = ColumnSet::default();
        let (new_tenant, old_tenant) = (scoped.new_tenant(), scoped.old_tenant());
        let (happened, row) = match scoped.kind() {
            ChangeKind::Insert { new, .. } => {
                let row = view.push(images, new, new_tenant)?;
                set_before(table, images, row, |_, _| Cell::Null);
                (Happened::Insert, row)
            }
            ChangeKind::Update {
                new,
                old: Some(OldRow::Full(old)),
                ..
            } => {
                let row = view.push(images, new, new_tenant)?;
                let mark = images.mark();
                let old = view.push(images, old, old_tenant)?;
                note_unchanged(table, images, row, &mut unchanged);
                images.complete(row, old);
                // An event must not tell one tenant what was another's.
                let told = view.keeps_tenant(images, row, old);
                set_before(table, images, row, |images, column| match told {
                    true => images.get(old, column),
                    false => Cell::Null,
                });
                images.forget_since(mark);
                (Happened::Update, row)
            }
            ChangeKind::Delete {
                old: OldRow::Full(old),
                ..
            } => (Happened::Delete, view.push(images, old, old_tenant)?),
            ChangeKind::Update { .. } | ChangeKind::Delete { .. } => {
                return Err(view.stop(Reason::RowIncomplete));
            }
            ChangeKind::Truncate { .. } | ChangeKind::Message { .. } => {
                return Err(view.stop(Reason::ChangeUnsupported));
            }
        };
        if !is_whole(&mapping, images, row) {
            return Err(view.stop(Reason::RowIncomplete));
        }
        let ordinal = ordinal(table, number.0)?;
        self.events.push(Event {
            row,
            happened,
            at,
            ordinal,
            unchanged,
        });
        Ok(())
    }

    /// Appends the event of a truncate, which has no row.
    ///
    /// # Errors
    /// `change_unsupported` for an ordinal that no transaction reaches.
    pub(crate) fn push_truncate(
        &mut self,
        table: &Table,
        at: Moment,
        number: u64,
    ) -> Result<(), Error> {
        let ordinal = ordinal(table, number)?;
        let row = self.images.push(table.columns.iter().map(|_| Cell::Null));
        self.events.push(Event {
            row,
            happened: Happened::Truncate,
            at,
            ordinal,
            unchanged: ColumnSet::default(),
        });
        Ok(())
    }
}

fn ordinal(table: &Table, number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| {
        Error::new(
            Reason::ChangeUnsupported,
            Site::table(&table.source).fact("an ordinal that no transaction reaches"),
        )
    })
}

fn set_before<'a>(
    table: &Table,
    images: &mut Images<'a>,
    row: Row,
    value: impl Fn(&Images<'a>, usize) -> Cell<'a>,
) {
    for (index, column) in table.columns.iter().enumerate() {
        if column.image == Image::Before {
            let cell = value(images, index);
            images.set(row, index, cell);
        }
    }
}

fn note_unchanged(table: &Table, images: &Images<'_>, row: Row, unchanged: &mut ColumnSet) {
    for (index, column) in table.columns.iter().enumerate() {
        if column.image == Image::Row && images.get(row, index) == Cell::Unchanged {
            unchanged.insert(index);
        }
    }
}
