//! What does an exit code mean?

use std::process::ExitCode;

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
