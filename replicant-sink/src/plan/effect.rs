//! What one change must do to the mirror: which row it finds and what it knows of the new one.

use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::{ChangeKind, OldRow};
use replicant_transport::error::Site;
use replicant_transport::relation::KeyPart;

use super::image::{Images, Row};
use super::resolve::Mapping;
use super::tenants::{Part, Scoped};
use crate::error::Error;
use crate::generation::{RowMatch, Table, Travel};
use crate::reason::Reason;
use crate::tenant::Tenant;

/// One row change, its images in an arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// The row is there afterwards.
    Insert {
        /// Whole.
        row: Row,
    },
    /// The row found by its unchanged key has these values.
    Update {
        /// What is known of it, the key included.
        row: Row,
    },
    /// The row found by `old` becomes `row`: its key changed, or it has none.
    Move {
        /// Holds the compared columns.
        old: Row,
        /// What is known of it.
        row: Row,
    },
    /// The row found by these compared columns is gone.
    Delete {
        /// Holds the compared columns.
        old: Row,
    },
}

/// The effect of a row change, its images pushed into `images`.
///
/// # Errors
/// `row_key_missing`, `row_incomplete`, `change_unsupported`.
pub(crate) fn effect_of<'a>(
    table: &Table,
    mapping: &Mapping,
    scoped: Scoped<'a>,
    images: &mut Images<'a>,
) -> Result<Effect, Error> {
    let view = View { table, mapping };
    match (scoped.kind(), scoped.part()) {
        (ChangeKind::Insert { new, .. }, _) => {
            let row = view.push(images, new, scoped.new_tenant())?;
            view.appears(images, row)
        }
        (
            ChangeKind::Update {
                old: Some(old @ OldRow::Full(whole)),
                new,
                ..
            },
            part @ (Part::Leaves | Part::Enters),
        ) => {
            if part == Part::Leaves {
                let old = view.old(images, old, scoped.old_tenant())?;
                return Ok(Effect::Delete { old });
            }
            let row = view.push(images, new, scoped.new_tenant())?;
            let mark = images.mark();
            let before = view.push(images, whole, scoped.new_tenant())?;
            images.complete(row, before);
            images.forget_since(mark);
            view.appears(images, row)
        }
        (ChangeKind::Update { old, new, .. }, _) => {
            let row = view.push(images, new, scoped.new_tenant())?;
            view.update(images, row, old.as_ref(), scoped)
        }
        (ChangeKind::Delete { old, .. }, _) => {
            let old = view.old(images, old, scoped.old_tenant())?;
            Ok(Effect::Delete { old })
        }
        (ChangeKind::Truncate { .. } | ChangeKind::Message { .. }, _) => {
            Err(view.stop(Reason::ChangeUnsupported))
        }
    }
}

/// Is every value that the stream carries known in this image?
pub(crate) fn is_whole(mapping: &Mapping, images: &Images<'_>, row: Row) -> bool {
    let sent = mapping.positions.iter().map(Option::is_some);
    images
        .row(row)
        .iter()
        .zip(sent)
        .all(|(cell, sent)| !sent || *cell != Cell::Unchanged)
}

/// One table's rows as its mapping lays them out.
pub(super) struct View<'v> {
    pub(super) table: &'v Table,
    pub(super) mapping: &'v Mapping,
}

impl View<'_> {
    pub(super) fn stop(&self, reason: Reason) -> Error {
        Error::new(reason, Site::table(&self.table.source))
    }

    /// A row that was not there before.
    fn appears(&self, images: &Images<'_>, row: Row) -> Result<Effect, Error> {
        if !is_whole(self.mapping, images, row) {
            return Err(self.stop(Reason::RowIncomplete));
        }
        self.require_key(images, row)?;
        Ok(Effect::Insert { row })
    }

    fn update<'a>(
        &self,
        images: &mut Images<'a>,
        row: Row,
        old: Option<&'a OldRow>,
        scoped: Scoped<'a>,
    ) -> Result<Effect, Error> {
        let Some(old) = old else {
            if matches!(self.table.row_match, RowMatch::WholeRow) {
                return Err(self.stop(Reason::RowKeyMissing));
            }
            // No old image means that no column of the replica identity changed, which says nothing about a key
            // outside of it.
            self.require_key_is_sent()?;
            self.require_key(images, row)?;
            return Ok(Effect::Update { row });
        };
        let full = matches!(old, OldRow::Full(_));
        let mark = images.mark();
        let old = self.old(images, old, scoped.old_tenant())?;
        if full {
            images.complete(row, old);
        }
        if matches!(self.table.row_match, RowMatch::WholeRow) {
            return Ok(Effect::Move { old, row });
        }
        let mut moved = false;
        for key in self.table.row_match.key() {
            let before = images.get(old, key.column);
            if images.get(row, key.column) == Cell::Unchanged {
                images.set(row, key.column, before);
            }
            moved |= images.get(row, key.column) != before;
        }
        self.require_key(images, row)?;
        if moved {
            self.require_sealed_are_known(images, row, old)?;
            return Ok(Effect::Move { old, row });
        }
        images.forget_since(mark);
        Ok(Effect::Update { row })
    }

    /// An envelope that is stored belongs to its tenant: a row that goes to another one is sealed anew, from its values.
    fn require_sealed_are_known(
        &self,
        images: &Images<'_>,
        row: Row,
        old: Row,
    ) -> Result<(), Error> {
        if !self.table.seals.any() || self.keeps_tenant(images, row, old) {
            return Ok(());
        }
        let mut columns = 0..self.table.columns.len();
        let unknown = columns.any(|column| {
            self.table.seals.has(column) && images.get(row, column) == Cell::Unchanged
        });
        if unknown {
            return Err(self.stop(Reason::RowIncomplete));
        }
        Ok(())
    }

    /// Are two rows of one tenant, as the column that holds it says?
    pub(super) fn keeps_tenant(&self, images: &Images<'_>, one: Row, other: Row) -> bool {
        let scope = self.table.scope.as_ref();
        scope
            .and_then(|scope| scope.column())
            .is_none_or(|column| images.get(one, column) == images.get(other, column))
    }

    /// Pushes an old image: everything under FULL, else the compared columns.
    fn old<'a>(
        &self,
        images: &mut Images<'a>,
        old: &'a OldRow,
        tenant: Option<&'a Tenant>,
    ) -> Result<Row, Error> {
        match old {
            OldRow::Full(tuple) => {
                let row = self.push(images, tuple, tenant)?;
                self.require_key(images, row)?;
                Ok(row)
            }
            OldRow::Key(tuple) => {
                self.require_key_is_sent()?;
                let row = self.push(images, tuple, None)?;
                // The other columns hold placeholders that look like NULL.
                for (column, part) in self.mapping.in_key.iter().enumerate() {
                    if *part == KeyPart::NotKey {
                        images.set(row, column, Cell::Unchanged);
                    }
                }
                self.require_key(images, row)?;
                Ok(row)
            }
        }
    }

    /// Pushes what a tuple has of the mapped columns, with its tenant where that is written.
    pub(super) fn push<'a>(
        &self,
        images: &mut Images<'a>,
        tuple: &'a Tuple,
        tenant: Option<&'a Tenant>,
    ) -> Result<Row, Error> {
        let mark = images.mark();
        let cells = self.mapping.positions.iter().map(|position| {
            position
                .and_then(|position| tuple.get(position))
                .unwrap_or(Cell::Unchanged)
        });
        let row = images.push(cells);
        let fits = images
            .row(row)
            .iter()
            .zip(&self.table.columns)
            .all(|(cell, column)| match (cell, &column.travel) {
                (Cell::Null | Cell::Unchanged, _) => true,
                (Cell::Binary(_), Travel::Binary { .. })
                | (Cell::Text(_), Travel::Text { .. } | Travel::Sealed) => true,
                (Cell::Binary(_), Travel::Text { .. } | Travel::Sealed)
                | (Cell::Text(_), Travel::Binary { .. }) => false,
            });
        if !fits {
            images.forget_since(mark);
            let site = Site::table(&self.table.source).fact("a value came in another format");
            return Err(Error::new(Reason::ChangeUnsupported, site));
        }
        let filled = self.table.scope.as_ref().and_then(|scope| scope.filled());
        if let Some(column) = filled {
            let cell = tenant.map_or(Cell::Null, |tenant| Cell::Text(tenant.as_str().as_bytes()));
            images.set(row, column, cell);
        }
        Ok(row)
    }

    /// Do key-only old rows carry the whole key? Without a key only FULL rows tell which one is meant.
    fn require_key_is_sent(&self) -> Result<(), Error> {
        let RowMatch::Key(keys) = &self.table.row_match else {
            return Err(self.stop(Reason::RowKeyMissing));
        };
        let sent = keys
            .iter()
            .all(|key| self.mapping.in_key.get(key.column) == Some(&KeyPart::Key));
        if sent {
            Ok(())
        } else {
            Err(self.stop(Reason::RowKeyMissing))
        }
    }

    /// A row is found by its key only if every part of it is known and not NULL: NULL equals nothing. A row without
    /// a key is found by all that is sent of it.
    fn require_key(&self, images: &Images<'_>, row: Row) -> Result<(), Error> {
        let found = match &self.table.row_match {
            RowMatch::Key(keys) => keys
                .iter()
                .all(|key| matches!(images.get(row, key.column), Cell::Text(_) | Cell::Binary(_))),
            RowMatch::WholeRow => !images.row(row).contains(&Cell::Unchanged),
        };
        if found {
            Ok(())
        } else {
            Err(self.stop(Reason::RowKeyMissing))
        }
    }
}
