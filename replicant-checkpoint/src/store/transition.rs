//! May the stored contract become the declared one without losing what the stored positions mean?

use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use ring::digest::{SHA256, digest};
use tokio_postgres::Row;

use super::bind::Outcome;
use crate::contract::drift::{Drift, DriftReason, classify_stored};
use crate::contract::manifest::Manifest;
use crate::error::Error;
use crate::reason::Reason;

/// The contract row.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) timeline: i64,
    manifest: Vec<u8>,
    pub(super) fingerprint: Vec<u8>,
}

impl Stored {
    /// Reads timeline, manifest and fingerprint, in this order.
    pub(super) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            timeline: row.try_get(0)?,
            manifest: row.try_get(1)?,
            fingerprint: row.try_get(2)?,
        })
    }
}

/// SHA-256 of exactly the stored bytes.
pub(super) fn fingerprint(manifest: &[u8]) -> Vec<u8> {
    digest(&SHA256, manifest).as_ref().to_vec()
}

/// Judges the stored contract against the declared one.
pub(super) fn transition(stored: Option<&Stored>, declared: &Manifest) -> Result<Outcome, Error> {
    let Some(stored) = stored else {
        return Ok(Outcome::Initialised);
    };
    let drift = if stored.fingerprint == fingerprint(&stored.manifest) {
        classify_stored(&stored.manifest, declared)
    } else {
        Drift::Incompatible(DriftReason::StoredContractInvalid)
    };
    match drift {
        Drift::Equal => Ok(Outcome::Unchanged),
        Drift::Grown => Ok(Outcome::Grown),
        Drift::Incompatible(reason) => Err(incompatible(&reason)),
    }
}

/// The names come from stored or declared contracts, so they are names; one that is not is left out.
fn incompatible(reason: &DriftReason) -> Error {
    let table = reason
        .table()
        .and_then(|table| QualifiedName::new(&table.schema, &table.table).ok());
    let site = Site {
        table,
        column: reason.column().and_then(|column| Ident::new(column).ok()),
        ..Site::none()
    };
    Error::new(
        Reason::PublicationContractIncompatible,
        site.fact(format!("reason {}", reason.code())),
    )
}
