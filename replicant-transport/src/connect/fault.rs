//! What is kept of a server's refusal: its SQLSTATE, or that the connection is gone. Nothing else.
//!
//! A server's message and detail print row values, file names and roles, so they are dropped where the frame is read.
//! Source: PostgreSQL documentation, "Error and Notice Message Fields" and appendix A.

use std::fmt;

use crate::error::{Error, Site, SqlState};
use crate::reason::Reason;

/// How a statement or session failed, reduced to what may be printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerFault {
    /// The server answered with this condition.
    SqlState(SqlState),
    /// The connection broke, so nobody knows what the server did.
    ConnectionLost,
    /// The answer had another shape than asked for, or a value did not fit its type on our side: a mistake in the
    /// program, never cured by trying again.
    Unexpected,
}

/// How a statement on the replication session failed.
pub type QueryError = ServerFault;

impl ServerFault {
    /// The condition, when the server named one.
    pub fn sqlstate(self) -> Option<SqlState> {
        match self {
            Self::SqlState(state) => Some(state),
            Self::ConnectionLost | Self::Unexpected => None,
        }
    }

    /// The reason this fault stands for when no narrower one is known.
    pub fn reason(self) -> Reason {
        match self {
            Self::SqlState(state) => reason_of(state),
            Self::ConnectionLost => Reason::SourceUnreachable,
            Self::Unexpected => Reason::ProtocolViolation,
        }
    }
}

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SqlState(state) => write!(f, "the server answered SQLSTATE {state}"),
            Self::ConnectionLost => f.write_str("the connection broke"),
            Self::Unexpected => f.write_str("the answer had an unexpected shape"),
        }
    }
}

impl std::error::Error for ServerFault {}

impl From<ServerFault> for Error {
    fn from(fault: ServerFault) -> Self {
        Self::new(fault.reason(), Site::none().sqlstate(fault.sqlstate()))
    }
}

/// Reduces a client error: the SQLSTATE, a lost connection, or a mistake on our side.
pub fn classify(error: &tokio_postgres::Error) -> ServerFault {
    if let Some(state) = error.code() {
        return ServerFault::SqlState(known(state.code()));
    }
    let broken = error.is_closed()
        || std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>());
    if broken {
        ServerFault::ConnectionLost
    } else {
        ServerFault::Unexpected
    }
}

/// Which reason a condition means while connecting, or for a statement without a narrower meaning.
fn reason_of(state: SqlState) -> Reason {
    match state.as_str() {
        "28P01" | "28000" => Reason::AuthenticationFailed,
        "3D000" => Reason::DatabaseMissing,
        "42501" => Reason::PrivilegeMissing,
        "53300" => Reason::TooManyConnections,
        "57P01" | "57P02" | "57P03" => Reason::ServerUnavailable,
        "08P01" => Reason::ProtocolViolation,
        _ if state.is_connection_loss() => Reason::SourceUnreachable,
        _ => Reason::ServerRefused,
    }
}

/// The condition of an ErrorResponse: the field of type `C` in its list of tagged, zero-terminated texts.
pub(super) fn sqlstate_of(error_response: &[u8]) -> SqlState {
    error_response
        .split(|byte| *byte == 0)
        .find_map(|field| field.strip_prefix(b"C"))
        .map_or(SqlState::INTERNAL, |code| {
            known(&String::from_utf8_lossy(code))
        })
}

/// A code that is not five safe characters is reported as the server's own internal error.
fn known(code: &str) -> SqlState {
    SqlState::new(code).unwrap_or(SqlState::INTERNAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_condition_of_an_error_response_is_kept() {
        let body = b"SFATAL\0VFATAL\0C28P01\0Mpassword for \"secret\" is wrong\0\0";
        assert_eq!(sqlstate_of(body).as_str(), "28P01");
        for malformed in [&b""[..], b"\0", b"C", b"C28p01\0", b"Mhello\0\0"] {
            assert_eq!(sqlstate_of(malformed), SqlState::INTERNAL);
        }
    }

    #[test]
    fn conditions_say_whether_trying_again_helps() {
        use crate::reason::Class;
        for (code, class) in [
            ("57P01", Class::Transient),
            ("57P03", Class::Transient),
            ("53300", Class::Transient),
            ("08006", Class::Transient),
            ("08P01", Class::Terminal),
            ("57P04", Class::Terminal),
            ("28P01", Class::Terminal),
            ("3D000", Class::Terminal),
            ("42501", Class::Terminal),
            ("XX000", Class::Terminal),
        ] {
            let fault = ServerFault::SqlState(SqlState::new(code).unwrap());
            assert_eq!(fault.reason().class(), class, "{code}");
        }
        assert_eq!(
            ServerFault::ConnectionLost.reason().class(),
            Class::Transient
        );
    }
}
