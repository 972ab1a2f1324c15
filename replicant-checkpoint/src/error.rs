//! What a checkpoint error says: a closed reason with structural names, or how the destination failed.

use std::fmt;

use replicant_transport::error::Site;
use replicant_transport::reason::Class;

use crate::reason::Reason;
use crate::store::Fault;

/// Why the checkpoint could not be read or written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// What is stored forbids going on, or does not allow what was asked.
    Refused {
        /// The closed reason.
        reason: Reason,
        /// Where, structurally.
        site: Box<Site>,
    },
    /// The destination failed; whether to try again is the caller's policy.
    Fault(Fault),
}

impl Error {
    /// A reason at a site.
    pub fn new(reason: Reason, site: Site) -> Self {
        Self::Refused {
            reason,
            site: Box::new(site),
        }
    }

    /// The closed reason.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Refused { reason, .. } => *reason,
            Self::Fault(fault) => fault.reason(),
        }
    }

    /// Stable code of the reason.
    pub fn code(&self) -> &'static str {
        self.reason().code()
    }

    /// Retry, stop, or ask a person.
    pub fn class(&self) -> Class {
        self.reason().class()
    }

    /// One sentence on what to do.
    pub fn help(&self) -> &'static str {
        self.reason().help()
    }

    /// Where, structurally.
    pub fn site(&self) -> Site {
        match self {
            Self::Refused { site, .. } => Site::clone(site),
            Self::Fault(fault) => Site::none().sqlstate(fault.sqlstate()),
        }
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Self::new(reason, Site::none())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Fault(Fault::of(&error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}; {}", self.code(), self.site(), self.help())
    }
}

impl std::error::Error for Error {}
