//! From an envelope to its value, where it belongs and nowhere else.

use std::fmt;

use ring::aead::{Aad, Nonce};

use super::context::Place;
use super::envelope::Envelope;
use super::key::Keyring;
use crate::reason::Reason;

/// A value that was opened: the source's text of it. It never prints.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened(Vec<u8>);

impl Opened {
    /// The value, for code that means to see it.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opened(..)")
    }
}

impl Keyring {
    /// Opens an envelope that was sealed for this place and tenant.
    ///
    /// # Errors
    /// `sealing_key_unknown` when the key that sealed it is not here; `sealed_value_invalid` when it is no envelope, was
    /// altered, or was sealed for another place or tenant: the three cannot be told apart.
    pub fn open(
        &self,
        envelope: &[u8],
        place: &Place,
        tenant: Option<&[u8]>,
    ) -> Result<Opened, Reason> {
        let parts = Envelope::parse(envelope).ok_or(Reason::SealedValueInvalid)?;
        let key = self.get(parts.key_id).ok_or(Reason::SealingKeyUnknown)?;
        let data_key = key.data_key(parts.salt).ok_or(Reason::SealedValueInvalid)?;
        let covered = Aad::from(place.covered(parts.header, tenant));
        let nonce = Nonce::assume_unique_for_key(parts.nonce);
        let mut value = parts.sealed.to_vec();
        let opened = data_key.open_in_place(nonce, covered, &mut value);
        let length = opened.map_err(|_| Reason::SealedValueInvalid)?.len();
        value.truncate(length);
        Ok(Opened(value))
    }
}
