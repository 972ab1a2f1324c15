//! How does the host read what was sealed? By its declared type, with the keys, where it belongs.

use replicant_checkpoint::contract::resource::Protection;
use replicant_transport::error::Site;

use super::context::Place;
use super::key::Keyring;
use crate::error::Error;
use crate::reason::Reason;
use crate::resource::Resource;
use crate::sealed::Sealed;
use crate::text_form::NotNull;

impl Place {
    /// The place of a sealed field of a resource. `None` when it has no sealed field of this name.
    pub fn of<R: Resource>(field: &str) -> Option<Self> {
        let column = R::SPEC
            .columns
            .iter()
            .find(|column| column.field == field && column.protection == Protection::Sealed)?;
        Some(Self::new(R::SPEC.source, R::SPEC.target, column.target))
    }
}

impl<T: NotNull> Sealed<T> {
    /// Opens what the destination column holds. `tenant` is the row's, `None` for an untenanted resource.
    ///
    /// # Errors
    /// `sealing_key_unknown` and `sealed_value_invalid`, as [`Keyring::open`]; `sealed_value_unreadable` when the type
    /// cannot hold the value.
    pub fn open(
        keys: &Keyring,
        place: &Place,
        tenant: Option<&str>,
        envelope: &[u8],
    ) -> Result<Self, Error> {
        let opened = keys.open(envelope, place, tenant.map(str::as_bytes))?;
        let text = std::str::from_utf8(opened.expose()).ok();
        let value = text.and_then(T::parse).ok_or_else(|| {
            let fact = "its text does not fit the type";
            Error::new(Reason::SealedValueUnreadable, Site::none().fact(fact))
        })?;
        Ok(Self::new(value))
    }
}
