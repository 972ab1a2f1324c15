//! What one failed try means for the next: the only place where delivery turns faults into decisions.

use replicant_checkpoint::store::{CommitFailure, Fault};
use replicant_transport::error::{Site, SqlState};
use replicant_transport::reason::Class;

use crate::apply::Failure;
use crate::error::Error;
use crate::reason::Reason;

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
            Fault::Refused(state) => Self::Stop(refused(state.unwrap_or(SqlState::INTERNAL), site)),
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

/// The reason a refusal stands for.
///
/// Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".
fn refused(state: SqlState, site: Site) -> Error {
    let reason = match (state.class(), state.as_str()) {
        (_, "23505" | "23P01") => Reason::DestinationUniqueConflict,
        (_, "23503") => Reason::DestinationForeignKeyViolated,
        (_, "25006") => Reason::DestinationReadOnly,
        (_, "42501") => Reason::DestinationPrivilege,
        ("53" | "54", _) | (_, "58030") => Reason::DestinationFull,
        _ => Reason::DestinationRejected,
    };
    Error::new(reason, site.sqlstate(Some(state)))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_condition_becomes_the_reason_an_operator_can_act_on() {
        for (state, reason) in [
            ("23505", Reason::DestinationUniqueConflict),
            ("23P01", Reason::DestinationUniqueConflict),
            ("23503", Reason::DestinationForeignKeyViolated),
            ("25006", Reason::DestinationReadOnly),
            ("42501", Reason::DestinationPrivilege),
            ("53100", Reason::DestinationFull),
            ("58030", Reason::DestinationFull),
            ("22001", Reason::DestinationRejected),
            ("23502", Reason::DestinationRejected),
            ("57P04", Reason::DestinationRejected),
        ] {
            let error = refused(SqlState::new(state).unwrap(), Site::none());
            assert_eq!(error.code(), reason.code(), "{state}");
            assert_ne!(error.class(), Class::Transient, "{state}");
        }
    }
}
