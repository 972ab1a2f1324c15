//! What does an exit code mean?

use std::process::ExitCode;

use replicant_sink::Error;
use replicant_transport::reason::Class;

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
        let unusable = matches!(
            error.code(),
            "config_invalid"
                | "source_identity_required"
                | "start_mode_required"
                | "option_not_available"
                | "credentials_file_unreadable"
                | "authentication_failed"
                | "destination_auth"
                | "declaration_invalid"
                | "checkpoint_invalid"
        );
        if unusable || error.class() == Class::Transient {
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
