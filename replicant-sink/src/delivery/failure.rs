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
