//! What a hook sees of a change's row, and what becomes of the values it sets.

use bytes::{BufMut, Bytes, BytesMut};
use replicant_transport::cell::{Cell, Slot, Tuple};
use replicant_transport::change::{ChangeKind, OldRow};

use super::calls::Side;
use super::guard::Caller;
use crate::changeset::Row;
use crate::error::Error;
use crate::generation::{Image, Table};
use crate::hooks::HookError;
use crate::plan::{Mapping, Owners};
use crate::reason::Reason;
use crate::tenant::Tenant;

/// What a hook may not do, it may not do silently either.
pub(super) trait Guarded: Row {
    /// The protected field that a hook tried to set.
    fn refused(&self) -> Option<&'static str>;

    /// Stops when a hook tried to set what only the library sets, whether it looked at the answer or not.
    ///
    /// # Errors
    /// `hook_column_protected`.
    fn require_untouched(&self, hook: &str, caller: Caller<'_>) -> Result<(), Error> {
        match self.refused() {
            None => Ok(()),
            Some(field) => {
                let fact = format!("{hook} of {} set {field}", caller.action);
                let site = caller.site().fact(fact);
                Err(Error::new(Reason::HookColumnProtected, site))
            }
        }
    }
}

/// One image of a change.
pub(super) struct ChangeRow<'c> {
    pub(super) table: &'c Table,
    pub(super) mapping: &'c Mapping,
    pub(super) kind: &'c ChangeKind,
    pub(super) side: Side,
    /// Which columns may be set; none when it is empty.
    pub(super) settable: &'c [bool],
    pub(super) tenant: Option<Tenant>,
    /// The row came from another tenant, or from nobody: what it was there is not told.
    came: bool,
    set: Vec<(usize, Option<String>)>,
    refused: Option<&'static str>,
}

impl<'c> ChangeRow<'c> {
    pub(super) fn new(
        (table, mapping): (&'c Table, &'c Mapping),
        (kind, side): (&'c ChangeKind, Side),
        settable: &'c [bool],
        owners: &Owners,
    ) -> Self {
        Self {
            table,
            mapping,
            kind,
            side,
            settable,
            tenant: owners.tenant(side == Side::New).cloned(),
            came: owners.tenant(true) != owners.tenant(false),
            set: Vec::new(),
            refused: None,
        }
    }

    /// The change with the values that hooks set; `None` when it stays as it is.
    ///
    /// # Errors
    /// `change_unsupported` when the row became larger than any that a server sends.
    pub(super) fn changed(self, caller: Caller<'_>) -> Result<Option<ChangeKind>, Error> {
        if self.set.is_empty() {
            return Ok(None);
        }
        let too_large = || {
            let site = caller.site().fact("hooks made a row of more than 4 GiB");
            Error::new(Reason::ChangeUnsupported, site)
        };
        let mut kind = self.kind.clone();
        let image = match (&mut kind, self.side) {
            (ChangeKind::Insert { new, .. } | ChangeKind::Update { new, .. }, Side::New) => new,
            (
                ChangeKind::Update {
                    old: Some(OldRow::Full(old) | OldRow::Key(old)),
                    ..
                }
                | ChangeKind::Delete {
                    old: OldRow::Full(old) | OldRow::Key(old),
                    ..
                },
                Side::Old,
            ) => old,
            _ => return Ok(None),
        };
        let positions: Vec<(usize, Option<&str>)> = self
            .set
            .iter()
            .filter_map(|(column, text)| Some((self.position(*column)?, text.as_deref())))
            .collect();
        *image = with_values(image, &positions).ok_or_else(too_large)?;
        Ok(Some(kind))
    }

    fn position(&self, column: usize) -> Option<usize> {
        self.mapping.positions.get(column).copied().flatten()
    }

    /// What was sent of a column. Under FULL the old image has what the new one leaves out.
    fn sent(&self, column: usize) -> Cell<'_> {
        let Some(position) = self.position(column) else {
            return Cell::Unchanged;
        };
        let before =
            self.table.columns.get(column).map(|column| column.image) == Some(Image::Before);
        let (new, old) = match self.kind {
            ChangeKind::Insert { new, .. } => (Some(new), None),
            ChangeKind::Update { new, old, .. } => (Some(new), old.as_ref()),
            ChangeKind::Delete { old, .. } => (None, Some(old)),
            ChangeKind::Truncate { .. } | ChangeKind::Message { .. } => (None, None),
        };
        let relation = match self.kind {
            ChangeKind::Insert { relation, .. }
            | ChangeKind::Update { relation, .. }
            | ChangeKind::Delete { relation, .. } => relation,
            ChangeKind::Truncate { .. } | ChangeKind::Message { .. } => return Cell::Unchanged,
        };
        let was = || old.and_then(|old| old.get(relation, position));
        match (self.side, before, new) {
            (Side::New, true, _) if old.is_none() || self.came => Cell::Null,
            (Side::New, false, Some(new)) => match new.get(position) {
                Some(Cell::Unchanged) | None => was().unwrap_or(Cell::Unchanged),
                Some(cell) => cell,
            },
            _ => was().unwrap_or(Cell::Unchanged),
        }
    }

    fn column(&self, field: &str) -> Option<usize> {
        let mut columns = self.table.columns.iter();
        columns.position(|column| column.spec.field == field)
    }
}

impl Row for ChangeRow<'_> {
    fn resource(&self) -> &'static str {
        self.table.spec.rust_path
    }

    fn tenant(&self) -> Option<&Tenant> {
        self.tenant.as_ref()
    }

    fn get(&self, field: &str) -> Result<Cell<'_>, HookError> {
        let Some(column) = self.column(field) else {
            return Err(match self.table.spec.column(field) {
                Some(_) => HookError::new("value_made_later"),
                None => HookError::new("column_of_another_resource"),
            });
        };
        Ok(match self.set.iter().find(|(one, _)| *one == column) {
            Some((_, text)) => as_cell(text.as_deref()),
            None => self.sent(column),
        })
    }

    fn set(&mut self, field: &'static str, text: Option<String>) -> Result<(), HookError> {
        let may = |column: &usize| self.settable.get(*column) == Some(&true);
        // A column that the source dropped has no place in the row.
        let column = self.column(field).filter(may);
        let Some(column) = column.filter(|column| self.position(*column).is_some()) else {
            self.refused.get_or_insert(field);
            return Err(HookError::new("column_protected"));
        };
        let same = self.sent(column) == as_cell(text.as_deref());
        match self.set.iter_mut().find(|(one, _)| *one == column) {
            Some((_, value)) => *value = text,
            None if same => {}
            None => self.set.push((column, text)),
        }
        Ok(())
    }
}

impl Guarded for ChangeRow<'_> {
    fn refused(&self) -> Option<&'static str> {
        self.refused
    }
}

pub(super) fn as_cell(text: Option<&str>) -> Cell<'_> {
    match text {
        None => Cell::Null,
        Some(text) => Cell::Text(text.as_bytes()),
    }
}

/// The image with these values at these positions. `None` when it becomes too large.
fn with_values(image: &Tuple, values: &[(usize, Option<&str>)]) -> Option<Tuple> {
    let mut bytes = BytesMut::new();
    let mut slots = Vec::with_capacity(image.len());
    for (position, cell) in image.iter().enumerate() {
        let cell = match values.iter().find(|(at, _)| *at == position) {
            Some((_, text)) => as_cell(*text),
            None => cell,
        };
        let start = u32::try_from(bytes.len()).ok()?;
        let mut put = |value: &[u8]| {
            bytes.put_slice(value);
            u32::try_from(bytes.len()).ok()
        };
        slots.push(match cell {
            Cell::Null => Slot::Null,
            Cell::Unchanged => Slot::Unchanged,
            Cell::Text(text) => Slot::Text {
                start,
                end: put(text)?,
            },
            Cell::Binary(value) => Slot::Binary {
                start,
                end: put(value)?,
            },
        });
    }
    Tuple::new(Bytes::from(bytes), slots)
}
