//! How is a value stored so that only a key opens it, and only where it belongs?
//!
//! A sealed column's value is encrypted in this process, before it becomes a statement parameter. What is stored is an
//! [`envelope`] of type `bytea`: which key, a salt, a nonce, the ciphertext and its tag. The tag also covers the
//! [`place`](context::Place) of the value (both tables, the column) and its tenant, so that an envelope that is copied to
//! another column, table or tenant does not open there. Its row and version are not covered: an unchanged value is
//! carried from one version to the next as it is, unless an older key sealed it.
//!
//! Each destination transaction derives a data key of its own, per table, from the vault's key and a random salt, and
//! counts its nonces. So no nonce is used twice under one key, however much is sealed, and the vault is asked once per
//! connect and never per value. Rotation adds a key: the last one of the vault seals, all of them open.
//!
//! What stays visible in the destination: that a value is NULL, and its length.
//!
//! Reading order: [`key`] (keys by id), [`vault`] (where keys come from), [`context`] (where a value belongs),
//! [`envelope`] (bytes), [`sealer`] and [`opener`] (the two directions), [`data_keys`] (one for each transaction),
//! [`columns`] (what of a row is sealed), [`typed`] (for the host), [`inventory`] (which keys are still needed).

pub mod columns;
pub mod context;
pub(crate) mod data_keys;
pub(crate) mod envelope;
pub mod inventory;
pub mod key;
pub mod opener;
pub(crate) mod sealer;
pub mod typed;
pub mod vault;

#[cfg(test)]
mod tests;

use replicant_checkpoint::contract::resource::Protection;
use replicant_checkpoint::contract::sink::SinkSpec;

/// Does a sink seal anything?
pub(crate) fn is_declared(spec: &SinkSpec) -> bool {
    let mut columns = spec.resources().flat_map(|resource| resource.columns);
    columns.any(|column| column.protection == Protection::Sealed)
}

pub use columns::Seals;
pub use context::Place;
pub(crate) use data_keys::Groups;
pub(crate) use envelope::Head;
pub use key::{Key, KeyId, Keyring};
pub use opener::Opened;
pub use vault::{EnvironmentVault, FileVault, StaticVault, Vault};
