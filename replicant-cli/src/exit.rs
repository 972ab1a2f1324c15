//! What does an exit code mean?

use std::process::ExitCode;

use replicant_sink::Error;
use replicant_transport::reason::Class;

/// What was told is not enough to ask anything.
const UNUSABLE: &[&str] = &[
    "config_invalid",
    "source_identity_required",
    "start_mode_required",
    "option_not_available",
    "declaration_invalid",
    "checkpoint_invalid",
];

/// No server opened a session, so none was asked; trying again does not help.
const NO_SESSION: &[&str] = &[
    "tls_refused",
    "tls_certificate_untrusted",
    "tls_hostname_mismatch",
    "tls_failed",
    "tls_file_unusable",
    "credentials_file_unreadable",
    "authentication_failed",
    "destination_auth",
    "password_missing",
    "authentication_method_refused",
    "cleartext_password_refused",
    "channel_binding_unavailable",
    "server_not_authentic",
    "database_missing",
];

/// The answer of a command, for scripts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Everything that was asked holds.
    Clean,
    /// Nothing failed, something deserves attention.
    Warnings,
    /// A check failed.
    Failed,
    /// The question could not be asked: unreachable, or a usage or configuration error.
    NotAsked,
}

impl Exit {
    /// Was the question answered with no, or could it not be asked?
    pub fn of_error(error: &Error) -> Self {
        if UNUSABLE.contains(&error.code())
            || NO_SESSION.contains(&error.code())
            || error.class() == Class::Transient
        {
            Self::NotAsked
        } else {
            Self::Failed
        }
    }

    /// The exit that a report asks for.
    pub const fn of_code(code: u8) -> Self {
        match code {
            0 => Self::Clean,
            1 => Self::Failed,
            2 => Self::Warnings,
            _ => Self::NotAsked,
        }
    }

    /// Its number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Failed => 1,
            Self::Warnings => 2,
            Self::NotAsked => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn every_code_that_is_listed_here_exists() {
        for code in UNUSABLE.iter().chain(NO_SESSION) {
            let known = catalogue::all().iter().any(|entry| entry.code == *code);
            assert!(known, "{code}");
        }
    }
}
