//! Which columns of a table are sealed, and what is sealed of one image? The one door between sealing and delivery.

use std::fmt;

use replicant_checkpoint::contract::resource::{
    ColumnSpec, Protection, ResourceSpec, Tenancy, TenancyStrategy, TenantSource,
};
use replicant_transport::cell::Cell;

use super::context::Place;
use super::key::Keyring;
use super::sealer::Sealer;
use crate::reason::Reason;

/// The sealed columns of one table, and what seals them.
#[derive(Debug, Default)]
pub struct Seals {
    /// One entry per mapped column. Empty for a table without sealed ones.
    places: Vec<Option<Place>>,
    /// The mapped column that holds the tenant.
    tenant: Option<usize>,
    /// Nothing is sealed, and so nothing written, before it is here.
    sealer: Option<Sealer>,
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
    pub(crate) fn of(spec: &ResourceSpec, columns: &[&ColumnSpec]) -> Self {
        let place = |column: &&ColumnSpec| {
            let sealed = column.protection == Protection::Sealed;
            sealed.then(|| Place::new(spec.source, spec.target, column.target))
        };
        let places: Vec<_> = columns.iter().map(place).collect();
        if places.iter().all(Option::is_none) {
            return Self::default();
        }
        let field = tenant_field(spec.tenancy);
        Self {
            places,
            tenant: columns
                .iter()
                .position(|column| Some(column.field) == field),
            sealer: None,
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

    /// Makes a data key for this session from the key that seals.
    ///
    /// # Errors
    /// `sealing_failed`.
    pub(crate) fn unlock(&mut self, keys: &Keyring) -> Result<(), Reason> {
        if self.any() {
            self.sealer = Some(Sealer::new(keys.current())?);
        }
        Ok(())
    }

    /// Seals this column of this image. `None` when it is written as it is: a column that is not sealed, a NULL, or an
    /// envelope that was read from the destination (the only form in which a sealed column's cell is binary).
    ///
    /// # Errors
    /// Without a key, without a tenant where there must be one, or when it fails.
    pub(crate) fn envelope(
        &self,
        image: &[Cell<'_>],
        column: usize,
    ) -> Result<Option<Vec<u8>>, Unsealed> {
        let (Some(place), Some(Cell::Text(value))) = (self.place(column), image.get(column)) else {
            return Ok(None);
        };
        let tenant = match self.tenant.and_then(|tenant| image.get(tenant)) {
            None if self.tenant.is_none() => None,
            Some(Cell::Text(tenant)) => Some(*tenant),
            _ => return Err(Unsealed),
        };
        let sealer = self.sealer.as_ref().ok_or(Unsealed)?;
        let sealed = sealer.seal(place, tenant, value);
        sealed.map(Some).map_err(|_| Unsealed)
    }

    fn place(&self, column: usize) -> Option<&Place> {
        self.places.get(column)?.as_ref()
    }
}

/// The field by which rows belong to tenants.
fn tenant_field(tenancy: Tenancy) -> Option<&'static str> {
    match tenancy {
        Tenancy::Untenanted => None,
        Tenancy::Tenanted {
            strategy: TenancyStrategy::Attribute(field),
            ..
        } => Some(field),
        Tenancy::Tenanted { source, .. } => match source {
            Some(TenantSource::Attribute(field)) => Some(field),
            Some(TenantSource::Function { .. }) | None => None,
        },
    }
}
