//! What a sink error says: a closed reason of this crate or the lower reason it wraps, and structural names.

use std::fmt;

use replicant_transport::error::Site;
use replicant_transport::reason::Class;
use replicant_transport::sink::SinkError;

use crate::reason::Reason;

/// Why a pipeline stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// This crate's reason.
    Sink {
        /// The closed reason.
        reason: Reason,
        /// Where, structurally.
        site: Box<Site>,
    },
    /// The transport's reason, not renamed.
    Transport(Box<replicant_transport::error::Error>),
    /// The checkpoint's reason, not renamed.
    Checkpoint(Box<replicant_checkpoint::Error>),
}

impl Error {
    /// A reason of this crate at a site.
    pub fn new(reason: Reason, site: Site) -> Self {
        Self::Sink {
            reason,
            site: Box::new(site),
        }
    }

    /// Stable code of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Sink { reason, .. } => reason.code(),
            Self::Transport(error) => error.reason.code(),
            Self::Checkpoint(error) => error.code(),
        }
    }

    /// Retry, stop, or ask a person.
    pub fn class(&self) -> Class {
        match self {
            Self::Sink { reason, .. } => reason.class(),
            Self::Transport(error) => error.reason.class(),
            Self::Checkpoint(error) => error.class(),
        }
    }

    /// One sentence on what to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Sink { reason, .. } => reason.help(),
            Self::Transport(error) => error.reason.help(),
            Self::Checkpoint(error) => error.help(),
        }
    }

    /// Where, structurally.
    pub fn site(&self) -> Site {
        match self {
            Self::Sink { site, .. } => Site::clone(site),
            Self::Transport(error) => error.site.clone(),
            Self::Checkpoint(error) => error.site(),
        }
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Self::new(reason, Site::none())
    }
}

impl From<replicant_transport::error::Error> for Error {
    fn from(error: replicant_transport::error::Error) -> Self {
        Self::Transport(Box::new(error))
    }
}

impl From<replicant_checkpoint::Error> for Error {
    fn from(error: replicant_checkpoint::Error) -> Self {
        Self::Checkpoint(Box::new(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}; {}", self.code(), self.site(), self.help())
    }
}

impl std::error::Error for Error {}

impl SinkError for Error {
    fn code(&self) -> &'static str {
        self.code()
    }

    fn class(&self) -> Class {
        self.class()
    }
}
