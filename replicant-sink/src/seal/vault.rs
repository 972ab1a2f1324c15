//! Where do keys come from?
//!
//! A [`Vault`] hands out all of its keys at once, before the first row of a session. Sealing and opening then need
//! nobody else, so a slow or absent key server never stands between two rows.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use replicant_transport::error::Site;
use zeroize::Zeroizing;

use super::key::Keyring;
use crate::error::Error;
use crate::reason::Reason;

/// The answer of a vault.
pub type Keys<'v> = Pin<Box<dyn Future<Output = Result<Keyring, Error>> + Send + 'v>>;

/// A place that keeps keys.
///
/// A vault of your own answers [`Error::vault_unavailable`] when asking again may help; the pipeline then keeps trying.
pub trait Vault: fmt::Debug + Send + Sync {
    /// Every key that may still be needed, the one that seals last. Asked at every connect, which is when a new key
    /// comes into use.
    ///
    /// # Errors
    /// `vault_unavailable`, `vault_keys_invalid`.
    fn keys(&self) -> Keys<'_>;
}

impl Error {
    /// The vault cannot be asked now.
    pub fn vault_unavailable() -> Self {
        Reason::VaultUnavailable.into()
    }
}

/// Keys that the program has already.
#[derive(Clone, Debug)]
pub struct StaticVault(Keyring);

impl StaticVault {
    /// These keys and no others.
    pub fn new(keys: Keyring) -> Self {
        Self(keys)
    }
}

impl Vault for StaticVault {
    fn keys(&self) -> Keys<'_> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

/// Keys in a file, as [`Keyring::parse`] reads them. It is read again at every connect.
#[derive(Clone, Debug)]
pub struct FileVault(PathBuf);

impl FileVault {
    /// The keys of this file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

impl Vault for FileVault {
    fn keys(&self) -> Keys<'_> {
        Box::pin(async {
            let text = std::fs::read_to_string(&self.0).map(Zeroizing::new);
            let text = text.map_err(|_| {
                let site = Site::option("key_file").fact("the file cannot be read");
                Error::new(Reason::VaultKeysInvalid, site)
            })?;
            Keyring::parse(&text)
        })
    }
}

/// Keys in an environment variable, as [`Keyring::parse`] reads them.
#[derive(Clone, Debug)]
pub struct EnvironmentVault(String);

impl EnvironmentVault {
    /// The keys of this variable.
    pub fn new(variable: impl Into<String>) -> Self {
        Self(variable.into())
    }
}

impl Vault for EnvironmentVault {
    fn keys(&self) -> Keys<'_> {
        Box::pin(async {
            let text = std::env::var(&self.0).map(Zeroizing::new).map_err(|_| {
                let site = Site::none().fact("the variable is not set");
                Error::new(Reason::VaultKeysInvalid, site)
            })?;
            Keyring::parse(&text)
        })
    }
}
