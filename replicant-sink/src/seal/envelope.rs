//! Which bytes are stored?
//!
//! | bytes | hold |
//! | --- | --- |
//! | 1 | version, 1 |
//! | 1 | length of the key's name, `n` |
//! | n | the key's name |
//! | 16 | salt of the data key |
//! | 12 | nonce |
//! | rest | ciphertext, as long as the value's text |
//! | 16 | tag |
//!
//! Everything before the ciphertext is the header; the tag covers it too. AES-256-GCM, NIST SP 800-38D.

use ring::aead::{AES_256_GCM, NONCE_LEN};

use super::key::{KEY_ID_MAX, KeyId};

/// The version this release writes.
pub(crate) const VERSION: u8 = 1;
/// Bytes of a salt.
pub(crate) const SALT_BYTES: usize = 16;
/// Bytes of a nonce.
pub(crate) const NONCE_BYTES: usize = NONCE_LEN;

/// An envelope in its parts. Nothing in it is secret, and nothing in it is believed before the tag was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Envelope<'a> {
    pub(super) header: &'a [u8],
    pub(super) key_id: &'a str,
    pub(super) salt: &'a [u8; SALT_BYTES],
    pub(super) nonce: [u8; NONCE_BYTES],
    /// Ciphertext and tag.
    pub(super) sealed: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Takes an envelope apart. `None` when it is none.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (&[version, length], rest) = bytes.split_first_chunk()?;
        if version != VERSION {
            return None;
        }
        let (key_id, rest) = rest.split_at_checked(length.into())?;
        let (salt, rest) = rest.split_first_chunk()?;
        let (nonce, sealed) = rest.split_first_chunk()?;
        if sealed.len() < AES_256_GCM.tag_len() {
            return None;
        }
        Some(Self {
            header: bytes.get(..bytes.len() - sealed.len())?,
            key_id: std::str::from_utf8(key_id).ok()?,
            salt,
            nonce: *nonce,
            sealed,
        })
    }
}

/// The key that sealed an envelope, from its first bytes. `None` when they are of none.
pub(super) fn key_of(head: &[u8]) -> Option<KeyId> {
    let (&[version, length], rest) = head.split_first_chunk()?;
    if version != VERSION {
        return None;
    }
    let (key_id, _) = rest.split_at_checked(length.into())?;
    KeyId::new(std::str::from_utf8(key_id).ok()?)
}

/// Writes a header.
pub(super) fn put_header(
    key_id: &KeyId,
    salt: &[u8; SALT_BYTES],
    nonce: &[u8; NONCE_BYTES],
    into: &mut Vec<u8>,
) {
    put_head(key_id, into);
    into.extend_from_slice(salt);
    into.extend_from_slice(nonce);
}

fn put_head(key_id: &KeyId, into: &mut Vec<u8>) {
    let id = key_id.as_str().as_bytes();
    into.push(VERSION);
    // A name is at most 32 bytes.
    into.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
    into.extend_from_slice(id);
}

/// How the envelopes of one key begin.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Head(Vec<u8>);

impl Head {
    pub(super) fn of(key_id: &KeyId) -> Self {
        let mut bytes = Vec::with_capacity(2 + KEY_ID_MAX);
        put_head(key_id, &mut bytes);
        Self(bytes)
    }

    /// How many bytes that are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes as SQL. A key's name is no secret, and has no quote in it.
    pub(crate) fn literal(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("pg_catalog.decode('{digits}', 'hex')")
    }
}
