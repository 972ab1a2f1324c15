//! What a failed destination statement means: try again, connect again, or stop.
//!
//! The transport says what an error of the client is; this adds the policy, for the checkpoint and for delivery alike.
//! Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".

use std::fmt;

use replicant_transport::connect::{ServerFault, classify};
use replicant_transport::error::SqlState;

use crate::reason::Reason;

/// How a destination statement failed. Only the SQLSTATE of the server's answer is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Fault {
    /// Another session was in the way (40001, 40P01, 55P03): the same work can succeed a moment later.
    Contention(SqlState),
    /// The connection or the server is gone (socket errors, class 08 without 08P01, 57P01 to 57P03). Whether work in
    /// flight took effect is unknown until it is read again.
    ConnectionLost,
    /// The server said no, and would say no again. `None` when its answer could not be understood at all.
    Refused(Option<SqlState>),
}

impl Fault {
    /// Classifies an error of the client library.
    pub fn of(error: &tokio_postgres::Error) -> Self {
        match classify(error) {
            ServerFault::SqlState(state) => Self::from_sqlstate(state),
            ServerFault::ConnectionLost => Self::ConnectionLost,
            // A value that does not fit its column, or bytes that are no message: repeating it cannot help.
            ServerFault::Unexpected => Self::Refused(None),
        }
    }

    /// Classifies a condition code.
    ///
    /// 57P04 (the database was dropped), 25006 (a standby or a read-only session) and class 53 (disk, memory,
    /// connections exhausted) look temporary but need a person, so they are refusals.
    pub fn from_sqlstate(state: SqlState) -> Self {
        match state.as_str() {
            "40001" | "40P01" | "55P03" => Self::Contention(state),
            _ if state.is_connection_loss() => Self::ConnectionLost,
            _ => Self::Refused(Some(state)),
        }
    }

    /// The condition code, when the server gave one that is kept.
    pub fn sqlstate(self) -> Option<SqlState> {
        match self {
            Self::Contention(state) => Some(state),
            Self::ConnectionLost => None,
            Self::Refused(state) => state,
        }
    }

    /// This crate's reason for it.
    pub fn reason(self) -> Reason {
        match self {
            Self::Contention(_) => Reason::CheckpointContended,
            Self::ConnectionLost => Reason::CheckpointUnreachable,
            Self::Refused(_) => Reason::CheckpointRefused,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contention(state) => write!(f, "contention (SQLSTATE {state})"),
            Self::ConnectionLost => f.write_str("connection lost"),
            Self::Refused(Some(state)) => write!(f, "refused (SQLSTATE {state})"),
            Self::Refused(None) => f.write_str("refused"),
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::of(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_time_heals_is_tried_again() {
        let of = |code| Fault::from_sqlstate(SqlState::new(code).unwrap());
        for code in ["40001", "40P01", "55P03"] {
            assert!(matches!(of(code), Fault::Contention(_)), "{code}");
        }
        for code in ["08000", "08006", "57P01", "57P02", "57P03"] {
            assert_eq!(of(code), Fault::ConnectionLost, "{code}");
        }
        for code in [
            "08P01", "57P04", "57014", "57P05", "25006", "53100", "53200", "53300", "40002",
            "23505", "42501",
        ] {
            assert!(matches!(of(code), Fault::Refused(Some(_))), "{code}");
        }
    }
}
