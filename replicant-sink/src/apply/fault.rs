//! Why pieces were not applied: what the destination said, reduced to what is safe to keep, or a reason to stop.

use replicant_checkpoint::store::Fault;
use replicant_transport::ident::QualifiedName;

use crate::error::Error;

/// Why pieces were not applied. The destination transaction must be rolled back in every case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The destination answered with an error, or not at all.
    Database {
        /// What the server's condition code means.
        fault: Fault,
        /// The destination table of the statement, from the plan.
        table: Option<Box<QualifiedName>>,
    },
    /// Going on would be a guess, or a policy says stop.
    Stop(Error),
}

impl Failure {
    /// Keeps the meaning of a client error and nothing else of it.
    pub(crate) fn of(error: &tokio_postgres::Error, table: Option<&QualifiedName>) -> Self {
        Self::Database {
            fault: Fault::of(error),
            table: table.cloned().map(Box::new),
        }
    }

    /// A statement that could not be written down, or an answer that could not be understood.
    pub(crate) fn internal(table: &QualifiedName) -> Self {
        Self::Database {
            fault: Fault::Refused(None),
            table: Some(Box::new(table.clone())),
        }
    }

    /// Is it a unique or exclusion conflict, which another way of writing may avoid?
    pub(crate) fn is_conflict(&self) -> bool {
        let Self::Database { fault, .. } = self else {
            return false;
        };
        let state = fault.sqlstate();
        state.is_some_and(|state| matches!(state.as_str(), "23505" | "23P01"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stop(error)
    }
}
