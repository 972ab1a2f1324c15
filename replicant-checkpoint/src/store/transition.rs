//! May the stored contract become the declared one without losing what the stored positions mean?

use replicant_transport::error::Site;
use ring::digest::{SHA256, digest};
use tokio_postgres::Row;

use super::bind::Outcome;
use crate::error::Error;
use crate::reason::Reason;

/// The contract row.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) timeline: Option<i64>,
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
pub(super) fn transition(stored: Option<&Stored>, declared: &[u8]) -> Result<Outcome, Error> {
    let Some(stored) = stored else {
        return Ok(Outcome::Initialised);
    };
    if stored.fingerprint != fingerprint(&stored.manifest) {
        return Err(incompatible("stored_contract_invalid"));
    }
    if stored.manifest == declared {
        return Ok(Outcome::Unchanged);
    }
    Err(incompatible("changed"))
}

fn incompatible(why: &str) -> Error {
    Error::new(
        Reason::PublicationContractIncompatible,
        Site::none().fact(format!("reason {why}")),
    )
}
