//! Which reason does an answer of the destination stand for?

use replicant_checkpoint::store::Fault;
use replicant_transport::error::{Site, SqlState};

use crate::error::Error;
use crate::reason::Reason;

/// The reason a refusal stands for; `None` is an answer that could not be understood.
///
/// Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".
pub(crate) fn refused(state: Option<SqlState>, site: Site) -> Error {
    let state = state.unwrap_or(SqlState::INTERNAL);
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

/// The reason a failed question stands for, asked where nothing but a new connection tries again: what a moment
/// heals is transient, and all else is not.
pub(crate) fn unanswered(fault: Fault, site: Site) -> Error {
    match fault {
        Fault::Contention(_) | Fault::ConnectionLost => {
            let site = site.sqlstate(fault.sqlstate());
            Error::new(Reason::DestinationUnreachable, site)
        }
        Fault::Refused(state) => refused(state, site),
    }
}

#[cfg(test)]
mod tests {
    use replicant_transport::reason::Class;

    use super::*;

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
            let state = SqlState::new(state);
            let error = refused(state, Site::none());
            assert_eq!(error.code(), reason.code(), "{state:?}");
            assert_ne!(error.class(), Class::Transient, "{state:?}");
            let error = unanswered(Fault::Refused(state), Site::none());
            assert_eq!(error.code(), reason.code(), "{state:?}");
        }
    }

    #[test]
    fn a_question_is_asked_again_only_when_that_can_help() {
        let contention = Fault::Contention(SqlState::new("55P03").unwrap());
        for (fault, class) in [
            (contention, Class::Transient),
            (Fault::ConnectionLost, Class::Transient),
            (Fault::Refused(None), Class::Terminal),
        ] {
            assert_eq!(unanswered(fault, Site::none()).class(), class, "{fault:?}");
        }
    }
}
