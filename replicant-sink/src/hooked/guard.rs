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
