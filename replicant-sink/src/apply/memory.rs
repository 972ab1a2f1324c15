//! On which rung does a table's next batch start?
//!
//! A table whose inserts met existing rows once, for example after a restored backup, will meet more: each failed try
//! costs a batch written twice. It must not cost the table its fastest way of writing for ever, either.

use super::Rung;

/// Batches written as upserts after a conflict, before plain inserts are tried again.
pub(super) const UPSERTS_AFTER_CONFLICT: u32 = 64;

/// What is remembered of one table.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Memory {
    upserts_left: u32,
}

impl Memory {
    /// The rung to start on.
    pub(super) fn start(self) -> Rung {
        if self.upserts_left > 0 {
            Rung::Upserts
        } else {
            Rung::Sets
        }
    }

    /// A batch was written on this rung.
    pub(super) fn written(&mut self, rung: Rung) {
        match (self.start(), rung) {
            (Rung::Sets, Rung::Upserts) => self.upserts_left = UPSERTS_AFTER_CONFLICT,
            (Rung::Upserts, _) => self.upserts_left -= 1,
            _ => {}
        }
    }
}
