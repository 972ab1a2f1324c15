//! What the two halves of a session share: how far it got, and that it moved.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::pipeline::feedback::Progress;
use crate::position::EndLsn;

/// Progress of one session, read and written by the socket half and the sink half.
#[derive(Debug)]
pub(crate) struct Shared {
    progress: Mutex<Progress>,
    /// Durability moved: the socket half has something to tell the server.
    pub(crate) to_server: Notify,
    /// Durability moved: the sink half may be idle now.
    pub(crate) to_sink: Notify,
}

impl Shared {
    pub(crate) fn starting_at(start: EndLsn) -> Self {
        Self {
            progress: Mutex::new(Progress::starting_at(start)),
            to_server: Notify::new(),
            to_sink: Notify::new(),
        }
    }

    /// The progress. Never held across an await; positions stay valid whatever happened to another holder.
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
