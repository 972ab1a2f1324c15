//! Which state is proven durable, and which commit only looked as if it were.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use replicant_transport::ack::CommitProof;
use replicant_transport::position::{EndLsn, Watermark};
use tokio_postgres::error::DbError;

use crate::error::Error;
use crate::reason::Reason;

/// What a returned commit made durable. It is constructed in this module's siblings only, after that commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    watermark: Watermark,
    acked_end: EndLsn,
}

impl Committed {
    pub(super) fn new(watermark: Watermark, acked_end: EndLsn) -> Self {
        Self {
            watermark,
            acked_end,
        }
    }
}

impl CommitProof for Committed {
    fn watermark(&self) -> Watermark {
        self.watermark
    }

    fn acked_end(&self) -> EndLsn {
        self.acked_end
    }
}

/// Counts commits that the server completed locally without its synchronous standby.
///
/// The server reports such a commit as successful and adds a WARNING (01000, or 57P01 when it shuts down). Notices
/// arrive at the connection's driver before the answer they precede, so a driver that calls
/// [`notice`](Self::notice) before it polls again makes the count visible in time.
///
/// Source: PostgreSQL documentation, "Synchronous Replication"; `SyncRepWaitForLSN`.
#[derive(Clone, Debug, Default)]
pub struct CommitWarnings(Arc<AtomicU64>);

/// How many warnings were seen at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen(u64);

impl CommitWarnings {
    /// Looks at one notice of a destination connection.
    pub fn notice(&self, notice: &DbError) {
        // Other 01000 warnings exist; treating one of them as this costs a second look and nothing else.
        if matches!(notice.code().code(), "01000" | "57P01") {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(super) fn seen(&self) -> Seen {
        Seen(self.0.load(Ordering::SeqCst))
    }

    /// Refuses to call a commit durable when a warning came in since `before`.
    pub(super) fn none_since(&self, before: Seen) -> Result<(), Error> {
        if self.seen() == before {
            Ok(())
        } else {
            Err(Reason::CheckpointNotReplicated.into())
        }
    }
}
