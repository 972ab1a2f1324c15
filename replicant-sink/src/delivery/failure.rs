//! What one failed try means for the next: the only place where delivery turns faults into decisions.

use replicant_checkpoint::store::{CommitFailure, Fault};
use replicant_transport::error::{Site, SqlState};
use replicant_transport::reason::Class;

use crate::apply::{Failure, across_tenants_at_commit, at_commit};
use crate::error::Error;
use crate::generation::Generation;
use crate::reason::Reason;
use crate::refusal::refused;

/// How one try ended, when it did not succeed.
#[derive(Clone, Debug)]
pub(crate) enum Attempt {
    /// No further try can succeed.
    Stop(Error),
    /// Another session was in the way.
    Contended(SqlState),
    /// The connection is gone before COMMIT was sent: nothing took effect.
    Lost,
    /// The connection is gone after COMMIT was sent: whether it took effect has to be read.
    AnswerLost,
}

impl Attempt {
    /// Connecting failed: what a longer wait cures is a lost connection.
    pub(crate) fn connecting(error: Error) -> Self {
        if error.class() == Class::Transient {
            Self::Lost
        } else {
            Self::Stop(error)
        }
    }
}

impl Attempt {
    /// COMMIT failed.
    pub(crate) fn committing(failure: CommitFailure, generation: &Generation) -> Self {
        match failure {
            CommitFailure::Unknown => Self::AnswerLost,
            CommitFailure::RolledBack(replicant_checkpoint::Error::Fault(fault), claims) => {
                let site = at_commit(generation, &claims);
                match across_tenants_at_commit(generation, fault, &claims) {
                    true => Self::across_tenants(fault, site),
                    false => Self::of(fault, site),
                }
            }
            CommitFailure::RolledBack(error, _) => error.into(),
        }
    }

    fn across_tenants(fault: Fault, site: Site) -> Self {
        let site = site.sqlstate(fault.sqlstate());
        Self::Stop(Error::new(Reason::TenantConflict, site))
    }

    fn of(fault: Fault, site: Site) -> Self {
        match fault {
            Fault::Contention(state) => Self::Contended(state),
            Fault::ConnectionLost => Self::Lost,
            Fault::Refused(state) => Self::Stop(refused(state, site)),
        }
    }
}

impl From<replicant_checkpoint::Error> for Attempt {
    fn from(error: replicant_checkpoint::Error) -> Self {
        match error {
            replicant_checkpoint::Error::Fault(fault) => Self::of(fault, Site::none()),
            refused => Self::Stop(refused.into()),
        }
    }
}

impl From<Failure> for Attempt {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stop(error) => Self::Stop(error),
            Failure::Database { fault, site } => Self::of(fault, *site),
            Failure::AcrossTenants { fault, site } => Self::across_tenants(fault, *site),
        }
    }
}

#[cfg(test)]
mod tests {
    use replicant_transport::connect::Claims;

    use super::*;
    use crate::fixture::generation;

    #[test]
    fn a_unique_conflict_at_commit_is_the_same_reason() {
        let fault = Fault::from_sqlstate(SqlState::new("23505").unwrap());
        let fault = replicant_checkpoint::Error::Fault(fault);
        let failure = CommitFailure::RolledBack(fault, Claims::default());
        let generation = generation(Vec::new());
        let Attempt::Stop(error) = Attempt::committing(failure, &generation) else {
            panic!("a stop");
        };
        assert_eq!(error.code(), Reason::DestinationUniqueConflict.code());
        assert_eq!(error.site().fact.as_deref(), Some("at COMMIT"));
        assert_eq!(error.class(), Class::Terminal);
    }
}
