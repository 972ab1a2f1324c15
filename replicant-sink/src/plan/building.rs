//! The batches of one table while changes arrive.

use std::sync::Arc;

use super::append::Events;
use super::fold::{Folder, Offer};
use super::history::Historian;
use super::lower::lower;
use super::moment::Moment;
use super::resolve::Mapping;
use super::tenants::Scoped;
use super::{Batch, Rows, Work};
use crate::error::Error;
use crate::generation::{Folding, History, RowMatch, Table};

/// Does a history have a transaction already?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// Yes, from an earlier life of its checkpoint.
    Before,
    /// No.
    Now,
}

impl Told {
    pub(super) fn of(history: &History, at: Moment) -> Self {
        if history.has(at.lsn) {
            Self::Before
        } else {
            Self::Now
        }
    }
}

/// The batches of one table while changes arrive.
#[derive(Debug)]
pub(super) struct Building<'a> {
    table: usize,
    batches: Vec<Batch<'a>>,
    folder: Option<Folder<'a>>,
    historian: Option<(Told, Historian<'a>)>,
    events: Option<Events<'a>>,
}

impl<'a> Building<'a> {
    pub(super) fn new(table: usize) -> Self {
        Self {
            table,
            batches: Vec::new(),
            folder: None,
            historian: None,
            events: None,
        }
    }

    /// Takes a change of a mirrored row.
    pub(super) fn change(
        &mut self,
        table: &Table,
        mapping: &Arc<Mapping>,
        scoped: Scoped<'a>,
        number: u64,
    ) -> Result<(), Error> {
        let folds = table.folding == Folding::PerKey && matches!(table.row_match, RowMatch::Key(_));
        if !folds {
            return self.as_it_came(table, mapping, scoped);
        }
        // A sealed folder is replaced by an empty one, which has no reason left to seal.
        for _ in 0..2 {
            let folder = self
                .folder
                .get_or_insert_with(|| Folder::new(table, Arc::clone(mapping), number));
            match folder.offer(table, mapping, scoped, number)? {
                Offer::Taken => return Ok(()),
                Offer::Seal => self.seal(table),
                Offer::AsItCame => break,
            }
        }
        self.seal(table);
        self.as_it_came(table, mapping, scoped)
    }

    fn as_it_came(
        &mut self,
        table: &Table,
        mapping: &Arc<Mapping>,
        scoped: Scoped<'a>,
    ) -> Result<(), Error> {
        if let Some(Batch::Rows(rows)) = self.batches.last_mut()
            && Arc::ptr_eq(&rows.mapping, mapping)
        {
            return rows.push(table, scoped);
        }
        let mut rows = Rows::new(table, Arc::clone(mapping));
        rows.push(table, scoped)?;
        self.batches.push(Batch::Rows(rows));
        Ok(())
    }

    /// Takes a change of a row whose history is kept.
    pub(super) fn version(
        &mut self,
        table: &Table,
        mapping: &Arc<Mapping>,
        scoped: Scoped<'a>,
        at: Moment,
        told: Told,
    ) -> Result<(), Error> {
        if self
            .historian
            .as_ref()
            .is_some_and(|(before, _)| *before != told)
        {
            self.seal(table);
        }
        // A sealed historian is replaced by an empty one, which has no reason left to seal.
        for _ in 0..2 {
            let (_, historian) = self
                .historian
                .get_or_insert_with(|| (told, Historian::new(table, Arc::clone(mapping))));
            match historian.offer(table, mapping, scoped, at)? {
                Offer::Taken => break,
                Offer::Seal | Offer::AsItCame => self.seal(table),
            }
        }
        // Where the destination's equality is coarser, two texts may be one key.
        if table.folding == Folding::RowOrder {
            self.seal(table);
        }
        Ok(())
    }

    /// Where events of an append log go.
    pub(super) fn events(&mut self, table: &Table, mapping: &Arc<Mapping>) -> &mut Events<'a> {
        let fits = |events: &Events<'_>| Arc::ptr_eq(&events.mapping, mapping);
        if !self.events.as_ref().is_some_and(fits) {
            self.seal(table);
        }
        self.events
            .get_or_insert_with(|| Events::new(table, Arc::clone(mapping)))
    }

    fn seal(&mut self, table: &Table) {
        self.batches.extend(self.events.take().map(Batch::Events));
        if let Some((told, historian)) = self.historian.take() {
            let versions = historian.finish();
            if !versions.closings.is_empty() || !versions.versions.is_empty() {
                self.batches.push(match told {
                    Told::Before => Batch::Recorded(versions),
                    Told::Now => Batch::Versions(versions),
                });
            }
        }
        if let Some(folder) = self.folder.take() {
            let folded = folder.finish();
            if !folded.effects.is_empty() {
                let operations = lower(table, &folded);
                self.batches.push(Batch::Folded { folded, operations });
            }
        }
    }

    pub(super) fn finish(mut self, table: &Table) -> Work<'a> {
        self.seal(table);
        Work {
            table: self.table,
            batches: self.batches,
        }
    }
}
