//! What one failed try means for the next: the only place where delivery turns faults into decisions.

use replicant_checkpoint::store::{CommitFailure, Fault};
use replicant_transport::error::{Site, SqlState};
use replicant_transport::reason::Class;

use crate::apply::Failure;
use crate::error::Error;
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
            Failure::Database { fault, table } => {
                let table = table.map(|table| *table);
                Self::of(
                    fault,
                    Site {
                        table,
                        ..Site::none()
                    },
                )
            }
        }
    }
}

impl From<CommitFailure> for Attempt {
    fn from(failure: CommitFailure) -> Self {
        match failure {
            CommitFailure::Unknown => Self::AnswerLost,
            // Deferred constraints speak last, and belong to no one statement.
            CommitFailure::RolledBack(replicant_checkpoint::Error::Fault(fault)) => {
                Self::of(fault, Site::none().fact("at COMMIT"))
            }
            CommitFailure::RolledBack(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::Reason;

    #[test]
    fn a_unique_conflict_at_commit_is_the_same_reason() {
        let fault = Fault::from_sqlstate(SqlState::new("23505").unwrap());
        let failure = CommitFailure::RolledBack(replicant_checkpoint::Error::Fault(fault));
        let Attempt::Stop(error) = Attempt::from(failure) else {
            panic!("a stop");
        };
        assert_eq!(error.code(), Reason::DestinationUniqueConflict.code());
        assert_eq!(error.site().fact.as_deref(), Some("at COMMIT"));
        assert_eq!(error.class(), Class::Terminal);
    }
}
