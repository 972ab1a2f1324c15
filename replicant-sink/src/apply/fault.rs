//! What a failed destination statement means: retry, reconnect, or stop.

use std::io;

use replicant_transport::error::SqlState;
use replicant_transport::ident::QualifiedName;

use crate::error::Error;

/// Why pieces were not applied. The destination transaction must be rolled back in every case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The destination answered with an error, or not at all.
    Database(Fault),
    /// Going on would be a guess, or a policy says stop.
    Stop(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stop(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Database(fault)
    }
}

impl Failure {
    /// Is it a unique or exclusion conflict, which another way of writing may avoid?
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Database(fault) if fault.is_conflict())
    }
}

/// What the destination said, reduced to what is safe to keep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Serialisation failure, deadlock or lock timeout: the whole transaction may be tried again.
    Contention(SqlState),
    /// The connection is gone, or the server is going away.
    ConnectionLost,
    /// The statement was refused.
    Refused {
        /// The server's condition code.
        sqlstate: SqlState,
        /// The destination table of the statement, from the plan.
        table: Option<QualifiedName>,
    },
}

impl Fault {
    /// Classifies a client error by its SQLSTATE; nothing else of it is kept.
    ///
    /// Source: PostgreSQL documentation, "PostgreSQL Error Codes".
    pub fn of(error: &tokio_postgres::Error, table: Option<&QualifiedName>) -> Self {
        let refused = |sqlstate| Self::Refused {
            sqlstate,
            table: table.cloned(),
        };
        let Some(code) = error.code() else {
            // Without a code the server did not answer. A broken connection is the world's fault; anything else
            // (a protocol message nobody expected, a parameter that cannot be written) is ours and must not be
            // tried again for ever.
            let broken =
                std::error::Error::source(error).is_some_and(|source| source.is::<io::Error>());
            if error.is_closed() || broken {
                return Self::ConnectionLost;
            }
            return refused(SqlState::INTERNAL);
        };
        let sqlstate = SqlState::new(code.code()).unwrap_or(SqlState::INTERNAL);
        match sqlstate.as_str() {
            "40001" | "40P01" | "55P03" => Self::Contention(sqlstate),
            "57P01" | "57P02" | "57P03" => Self::ConnectionLost,
            _ if sqlstate.class() == "08" => Self::ConnectionLost,
            _ => refused(sqlstate),
        }
    }

    /// A statement that could not be written down.
    pub(crate) fn internal(table: &QualifiedName) -> Self {
        Self::Refused {
            sqlstate: SqlState::INTERNAL,
            table: Some(table.clone()),
        }
    }

    /// Is it a unique or exclusion conflict, which another order of writing may avoid?
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { sqlstate, .. } if matches!(sqlstate.as_str(), "23505" | "23P01"))
    }
}
