//! What a history (SCD2) declares: which field holds which end of a version, and what closes one.

use super::role::Role;

/// How versions of rows are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HistorySpec {
    /// Fields of the natural key: versions of one row agree in them.
    pub business_key: &'static [&'static str],
    /// Field of the commit LSN that opened the version.
    pub valid_from_lsn: &'static str,
    /// Field of the commit LSN that closed it; NULL while it is open.
    pub valid_to_lsn: &'static str,
    /// Field of the commit time that opened it.
    pub valid_from: Option<&'static str>,
    /// Field of the commit time that closed it.
    pub valid_to: Option<&'static str>,
    /// Field that is true while the version is open.
    pub current: Option<&'static str>,
    /// The update action that closes a version.
    pub close_action: &'static str,
}

/// The name of the close action unless another is given.
pub const CLOSE_ACTION: &str = "close_version";

impl HistorySpec {
    /// The field of each role, where it is filled.
    pub const fn roles(&self) -> [(Role, Option<&'static str>); 5] {
        let Self {
            business_key: _,
            valid_from_lsn,
            valid_to_lsn,
            valid_from,
            valid_to,
            current,
            close_action: _,
        } = *self;
        [
            (Role::ValidFromLsn, Some(valid_from_lsn)),
            (Role::ValidToLsn, Some(valid_to_lsn)),
            (Role::ValidFrom, valid_from),
            (Role::ValidTo, valid_to),
            (Role::Current, current),
        ]
    }
}
