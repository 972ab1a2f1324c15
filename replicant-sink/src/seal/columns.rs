//! Which columns of a table are sealed, and what is sealed of one image? The one door between sealing and delivery.

use std::fmt;
use std::sync::Arc;

use replicant_checkpoint::contract::resource::{ColumnSpec, Protection, ResourceSpec};
use replicant_transport::cell::Cell;

use super::context::Place;
use super::data_keys::{DataKeys, Groups};
use super::envelope::{Head, key_of};
use super::key::Keyring;
use crate::reason::Reason;
use crate::scope::{KeptBy, Scope};
use crate::tenant::Tenant;

/// The sealed columns of one table, and what seals them.
#[derive(Clone, Debug, Default)]
pub struct Seals {
    /// One entry per mapped column. Empty for a table without sealed ones.
    places: Vec<Option<Place>>,
    tenant: TenantOf,
    /// Nothing is sealed, and so nothing written, before it is here.
    data_keys: Option<Arc<DataKeys>>,
}

/// Whose are the rows of a table?
#[derive(Clone, Debug, Default)]
enum TenantOf {
    /// Nobody's in particular.
    #[default]
    Nobody,
    /// This mapped column says it of each row.
    Column(usize),
    /// All of them are this tenant's.
    Table(Tenant),
    /// It stands for the tables of all tenants, and nothing is written into it.
    Many,
}

/// Nothing can be written: the value is unknown, or there is no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unsealed;

impl fmt::Display for Unsealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value could not be sealed")
    }
}

impl Seals {
    /// The sealed columns among the mapped ones of a resource, still without a key.
    pub(crate) fn of(spec: &ResourceSpec, columns: &[&ColumnSpec], scope: Option<&Scope>) -> Self {
        let place = |column: &&ColumnSpec| {
            let sealed = column.protection == Protection::Sealed;
            sealed.then(|| Place::new(spec.source, spec.target, column.target))
        };
        let places: Vec<_> = columns.iter().map(place).collect();
        if places.iter().all(Option::is_none) {
            return Self::default();
        }
        Self {
            places,
            tenant: match scope.map(|scope| &scope.kept_by) {
                None => TenantOf::Nobody,
                Some(KeptBy::Column(column)) => TenantOf::Column(*column),
                Some(KeptBy::Schema(tenant)) => TenantOf::Table(tenant.clone()),
                Some(KeptBy::Schemas(_)) => TenantOf::Many,
            },
            data_keys: None,
        }
    }

    /// The same with the data keys of a table that was unlocked before.
    pub(crate) fn unlocked_like(self, other: &Self) -> Self {
        Self {
            data_keys: other.data_keys.clone(),
            ..self
        }
    }

    /// Is any column sealed?
    pub(crate) fn any(&self) -> bool {
        !self.places.is_empty()
    }

    /// Is this column sealed?
    pub(crate) fn has(&self, column: usize) -> bool {
        self.place(column).is_some()
    }

    /// Takes the key that seals. Each of these transactions has a data key of its own.
    ///
    /// # Errors
    /// `sealing_failed`.
    pub(crate) fn unlock(&mut self, keys: &Keyring, groups: &Groups) -> Result<(), Reason> {
        if self.any() {
            self.data_keys = Some(Arc::new(DataKeys::new(keys, groups)?));
        }
        Ok(())
    }

    /// Seals this column of this image. `None` when it is written as it is: a column that is not sealed, a NULL, or an
    /// envelope of the current key that was read from the destination (the only form in which a sealed column's cell is
    /// binary). An envelope of an older key is opened and sealed anew.
    ///
    /// # Errors
    /// Without a key, without a tenant where there must be one, or when it fails.
    pub(crate) fn envelope(
        &self,
        image: &[Cell<'_>],
        column: usize,
    ) -> Result<Option<Vec<u8>>, Unsealed> {
        let Some(place) = self.place(column) else {
            return Ok(None);
        };
        match image.get(column) {
            Some(Cell::Text(value)) => self.seal(place, self.tenant(image)?, value).map(Some),
            Some(Cell::Binary(envelope)) => self.resealed(place, self.tenant(image)?, envelope),
            Some(Cell::Null | Cell::Unchanged) | None => Ok(None),
        }
    }

    /// How the envelopes begin that can be opened and sealed anew: those of older keys.
    pub(crate) fn older_heads(&self) -> Vec<Head> {
        let keys = self.data_keys.as_ref().map(|data_keys| data_keys.keys());
        let ids = keys.into_iter().flat_map(|keys| {
            let current = keys.current().id();
            keys.ids().filter(move |id| *id != current)
        });
        ids.map(Head::of).collect()
    }

    fn tenant<'i>(&'i self, image: &[Cell<'i>]) -> Result<Option<&'i [u8]>, Unsealed> {
        match &self.tenant {
            TenantOf::Nobody => Ok(None),
            TenantOf::Table(tenant) => Ok(Some(tenant.as_str().as_bytes())),
            TenantOf::Column(column) => match image.get(*column) {
                Some(Cell::Text(tenant)) => Ok(Some(tenant)),
                _ => Err(Unsealed),
            },
            TenantOf::Many => Err(Unsealed),
        }
    }

    fn seal(
        &self,
        place: &Place,
        tenant: Option<&[u8]>,
        value: &[u8],
    ) -> Result<Vec<u8>, Unsealed> {
        let data_keys = self.data_keys.as_ref().ok_or(Unsealed)?;
        let sealer = data_keys.current().map_err(|_| Unsealed)?;
        sealer.seal(place, tenant, value).map_err(|_| Unsealed)
    }

    /// What no key opens any more stays as it is, and so does what was altered: it opens as little as before, and nothing
    /// is lost.
    fn resealed(
        &self,
        place: &Place,
        tenant: Option<&[u8]>,
        envelope: &[u8],
    ) -> Result<Option<Vec<u8>>, Unsealed> {
        let keys = self.data_keys.as_ref().ok_or(Unsealed)?.keys();
        if key_of(envelope).as_ref() == Some(keys.current().id()) {
            return Ok(None);
        }
        match keys.open(envelope, place, tenant) {
            Ok(value) => self.seal(place, tenant, value.expose()).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn place(&self, column: usize) -> Option<&Place> {
        self.places.get(column)?.as_ref()
    }
}
