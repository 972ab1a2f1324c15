//! What is a key, and which one seals?
//!
//! A key is 32 random bytes with a name. Only what was extracted from them is kept, in a form that never prints and that
//! derives data keys (HKDF with SHA-256, RFC 5869). What was read is wiped. What ring derives of it is not: ring keeps
//! keys in types of its own and offers no way to wipe them, so they stay in memory until that is used again.

use std::fmt;

use replicant_transport::error::Site;
use ring::aead::{AES_256_GCM, LessSafeKey, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use zeroize::Zeroizing;

use super::envelope::SALT_BYTES;
use crate::error::Error;
use crate::reason::Reason;

/// Bytes of a key's secret.
pub const SECRET_BYTES: usize = 32;
/// Longest name of a key. It is part of every stored value.
pub const KEY_ID_MAX: usize = 32;

const PURPOSE: &[u8] = b"replicant sealed values 1";

/// The name of a key: letters, digits, `.`, `_` and `-`, at most [`KEY_ID_MAX`] of them.
///
/// It is stored with every value in the clear.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyId(String);

impl KeyId {
    /// Checks the name.
    pub fn new(name: &str) -> Option<Self> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let fits = !name.is_empty() && name.len() <= KEY_ID_MAX;
        (fits && name.chars().all(legal)).then(|| Self(name.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One key. It never prints more than its name.
#[derive(Clone)]
pub struct Key {
    id: KeyId,
    root: Prk,
}

impl Key {
    /// A key of this name. The secret must be random; it is not a password.
    pub fn new(id: KeyId, secret: &[u8; SECRET_BYTES]) -> Self {
        Self {
            id,
            root: Salt::new(HKDF_SHA256, PURPOSE).extract(secret),
        }
    }

    /// Its name.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// The data key of everything that was sealed with this salt. `None` never happens: the lengths are constants.
    pub(super) fn data_key(&self, salt: &[u8; SALT_BYTES]) -> Option<LessSafeKey> {
        let info = [PURPOSE, self.id.as_str().as_bytes(), salt];
        let derived = self.root.expand(&info, &AES_256_GCM).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(derived)))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

/// Every key that may still be needed to open something. The last one seals.
#[derive(Clone, Debug)]
pub struct Keyring {
    keys: Vec<Key>,
    current: Key,
}

impl Keyring {
    /// These keys, the oldest first.
    ///
    /// # Errors
    /// `vault_keys_invalid` without a key, or when two have the same name.
    pub fn new(keys: Vec<Key>) -> Result<Self, Error> {
        let Some(current) = keys.last().cloned() else {
            return Err(invalid("there is no key".to_owned()));
        };
        for (number, key) in keys.iter().enumerate() {
            if keys.iter().take(number).any(|earlier| earlier.id == key.id) {
                return Err(invalid(format!("key {} repeats a name", number + 1)));
            }
        }
        Ok(Self { keys, current })
    }

    /// Keys as they are written down: `name=secret`, the secret as 64 hexadecimal digits, separated by white space or
    /// commas, the oldest first. A `#` begins a comment.
    ///
    /// # Errors
    /// `vault_keys_invalid` with the number of the entry; no part of the text is repeated.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let content = text.lines().map(|line| match line.split_once('#') {
            Some((before, _)) => before,
            None => line,
        });
        let entries = content.flat_map(|line| line.split([',', ' ', '\t', '\r']));
        let entries = entries.filter(|entry| !entry.is_empty());
        let keys = entries.enumerate().map(|(number, entry)| {
            entry_of(entry).ok_or_else(|| {
                invalid(format!(
                    "entry {} is not a name, `=` and 64 hexadecimal digits",
                    number + 1
                ))
            })
        });
        Self::new(keys.collect::<Result<_, _>>()?)
    }

    /// The key that seals.
    pub fn current(&self) -> &Key {
        &self.current
    }

    /// The key of this name.
    pub fn get(&self, id: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.id.as_str() == id)
    }

    /// The names, the oldest first.
    pub fn ids(&self) -> impl Iterator<Item = &KeyId> {
        self.keys.iter().map(Key::id)
    }
}

fn entry_of(entry: &str) -> Option<Key> {
    let (name, digits) = entry.split_once('=')?;
    let mut secret = Zeroizing::new([0_u8; SECRET_BYTES]);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != SECRET_BYTES || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in secret.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        *byte = u8::try_from(high? << 4 | low?).ok()?;
    }
    Some(Key::new(KeyId::new(name)?, &secret))
}

fn invalid(fact: String) -> Error {
    Error::new(Reason::VaultKeysInvalid, Site::none().fact(fact))
}
