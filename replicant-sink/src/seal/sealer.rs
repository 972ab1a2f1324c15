//! From a value to an envelope, for one destination transaction.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::aead::{Aad, LessSafeKey, Nonce};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};

use super::context::Place;
use super::envelope::{NONCE_BYTES, SALT_BYTES, put_header};
use super::key::{Key, KeyId};
use crate::reason::Reason;

/// A data key that nobody else has, and a counter for its nonces.
pub(crate) struct Sealer {
    key_id: KeyId,
    salt: [u8; SALT_BYTES],
    data_key: LessSafeKey,
    sealed: AtomicU64,
}

impl Sealer {
    /// Derives a data key with a fresh salt.
    ///
    /// # Errors
    /// `sealing_failed` when the operating system has no random numbers.
    pub(crate) fn new(key: &Key) -> Result<Self, Reason> {
        Self::salted(key, |salt| SystemRandom::new().fill(salt))
    }

    /// The same with a salt that is filled by this.
    pub(super) fn salted(
        key: &Key,
        fill: impl FnOnce(&mut [u8]) -> Result<(), Unspecified>,
    ) -> Result<Self, Reason> {
        let mut salt = [0; SALT_BYTES];
        fill(&mut salt).map_err(|_| Reason::SealingFailed)?;
        Ok(Self {
            key_id: key.id().clone(),
            salt,
            data_key: key.data_key(&salt).ok_or(Reason::SealingFailed)?,
            sealed: AtomicU64::new(0),
        })
    }

    /// The envelope of a value.
    ///
    /// # Errors
    /// `sealing_failed` when the value is longer than AES-GCM allows (64 GiB), which no PostgreSQL value is.
    pub(crate) fn seal(
        &self,
        place: &Place,
        tenant: Option<&[u8]>,
        value: &[u8],
    ) -> Result<Vec<u8>, Reason> {
        // 2^64 values in one transaction do not exist, so the counter never begins again.
        let number = self.sealed.fetch_add(1, Ordering::Relaxed);
        let mut nonce = [0; NONCE_BYTES];
        if let Some(low) = nonce.last_chunk_mut() {
            *low = number.to_be_bytes();
        }
        let mut envelope = Vec::with_capacity(value.len() + 80);
        put_header(&self.key_id, &self.salt, &nonce, &mut envelope);
        let covered = Aad::from(place.covered(&envelope, tenant));
        let header = envelope.len();
        envelope.extend_from_slice(value);
        let ciphertext = envelope.get_mut(header..).unwrap_or_default();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .data_key
            .seal_in_place_separate_tag(nonce, covered, ciphertext)
            .map_err(|_| Reason::SealingFailed)?;
        envelope.extend_from_slice(tag.as_ref());
        Ok(envelope)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer({})", self.key_id)
    }
}
