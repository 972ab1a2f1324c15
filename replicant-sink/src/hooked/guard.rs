//! How a hook is called: whatever it does, what comes back is a reason, a name and a place, and never a value.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;
use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::CommitLsn;

use crate::changeset::Changeset;
use crate::error::Error;
use crate::hooks::{HookError, Running, ValidationRef};
use crate::reason::Reason;

/// How a call ended that did not succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Refused(HookError),
    Panicked,
}

impl Ended {
    /// What a panic says stays with it: it may hold anything.
    fn panicked(said: Box<dyn Any + Send>) -> Self {
        // Dropping it runs the host's code again, which may panic again.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(said)));
        Self::Panicked
    }
}

/// Calls a hook that only sees a row.
pub(super) fn call(hook: impl FnOnce() -> Result<(), HookError>) -> Result<(), Ended> {
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(refused)) => Err(Ended::Refused(refused)),
        Err(said) => Err(Ended::panicked(said)),
    }
}

/// Calls a hook that runs actions.
pub(super) async fn run<'a>(hook: impl FnOnce() -> Running<'a>) -> Result<(), Ended> {
    let running = catch_unwind(AssertUnwindSafe(hook)).map_err(Ended::panicked)?;
    match AssertUnwindSafe(running).catch_unwind().await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(refused)) => Err(Ended::Refused(refused)),
        Err(said) => Err(Ended::panicked(said)),
    }
}

/// Calls a validation.
pub(super) fn validate(
    validation: &ValidationRef,
    changeset: &Changeset<'_>,
    caller: Caller<'_>,
) -> Result<(), Error> {
    call(|| (validation.call)(changeset))
        .map_err(|ended| caller.error(Reason::ValidationRefused, (validation.name)(), ended))
}

/// Whose hook was called, and for which transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller<'a> {
    pub(super) table: &'a QualifiedName,
    pub(super) action: &'static str,
    pub(super) commit_lsn: Option<CommitLsn>,
}

impl Caller<'_> {
    /// What a call that did not succeed means; `refused` is the reason of an error it returned.
    pub(super) fn error(&self, refused: Reason, hook: &str, ended: Ended) -> Error {
        match ended {
            Ended::Refused(error) => {
                let fact = format!("{hook} of {}: {}", self.action, printable(error.kind()));
                Error::new(refused, self.site().fact(fact))
            }
            Ended::Panicked => {
                let fact = format!("{hook} of {}", self.action);
                Error::new(Reason::HookPanicked, self.site().fact(fact))
            }
        }
    }

    pub(super) fn site(&self) -> Site {
        let site = Site::table(self.table);
        match self.commit_lsn {
            Some(at) => site.lsn(at.lsn()),
            None => site,
        }
    }
}

/// A fixed text of the host's may hold what a terminal should not see.
fn printable(text: &str) -> String {
    let shown = text
        .chars()
        .map(|one| if one.is_control() { '?' } else { one });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics when it is created, and again when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any("dropped");
        }
    }

    #[tokio::test]
    async fn a_call_ends_as_a_name_whatever_it_does() {
        let refused = HookError::new("refused");
        assert_eq!(call(|| Ok(())), Ok(()));
        assert_eq!(call(|| Err(refused)), Err(Ended::Refused(refused)));
        assert_eq!(call(|| panic!("secret")), Err(Ended::Panicked));
        assert_eq!(call(|| std::panic::panic_any(Bomb)), Err(Ended::Panicked));
        let done: Result<(), HookError> = Ok(());
        assert_eq!(run(|| Box::pin(async move { done })).await, Ok(()));
        let ended = run(|| Box::pin(async move { Err(refused) })).await;
        assert_eq!(ended, Err(Ended::Refused(refused)));
        assert_eq!(
            run(|| Box::pin(async { panic!("secret") })).await,
            Err(Ended::Panicked)
        );
        // Before there is anything to wait for.
        assert_eq!(run(|| panic!("secret")).await, Err(Ended::Panicked));
    }

    #[test]
    fn what_a_terminal_should_not_see_is_not_printed() {
        let table = QualifiedName::parse("public.t").unwrap();
        let caller = Caller {
            table: &table,
            action: "create",
            commit_lsn: None,
        };
        let ended = Ended::Refused(HookError::new("a\u{1b}[31mb\n"));
        let error = caller.error(Reason::HookFailed, "H", ended);
        assert_eq!(error.site().fact.as_deref(), Some("H of create: a?[31mb?"));
    }
}
