//! How a plan becomes rows: SQL text, parameters, savepoints and the ladder, inside an open destination transaction.

mod fault;

use std::sync::Arc;

use tokio_postgres::Client;

pub use fault::{Failure, Fault};

use crate::generation::Generation;
use crate::plan::{Completeness, Piece};

/// What one call applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Source inserts.
    pub inserts: u64,
    /// Source updates.
    pub updates: u64,
    /// Source deletes.
    pub deletes: u64,
    /// Destination tables emptied by source truncates.
    pub truncates: u64,
    /// Changes of sources that are deliberately ignored.
    pub ignored: u64,
    /// Destination rows written or removed.
    pub rows_affected: u64,
    /// Deletes whose row was not there.
    pub absent_deletes: u64,
    /// Updates whose row was not there and was inserted whole.
    pub absent_updates: u64,
    /// The highest rung of the ladder that any flush needed.
    pub rung: Rung,
}

/// Which way of writing a flush needed, from the fastest to the last resort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub enum Rung {
    /// Set-based: deletes, updates, plain inserts.
    #[default]
    Sets,
    /// Set-based, inserts replace the row of the same key.
    Upserts,
    /// One statement per source change, in source order.
    Rows,
    /// Touched keys deleted, final images inserted.
    Reinsert,
}

/// Applies pieces on one destination connection.
#[derive(Debug)]
pub struct Applier {
    generation: Arc<Generation>,
    completeness: Arc<[Completeness]>,
}

impl Applier {
    /// For one destination connection; it keeps statements prepared on that connection.
    ///
    /// `completeness` has one entry per table of the generation, in its order.
    pub fn new(generation: Arc<Generation>, completeness: Arc<[Completeness]>) -> Self {
        Self {
            generation,
            completeness,
        }
    }

    /// Once per destination transaction, right after it was opened: defers the named constraints, or takes the
    /// replica role until the transaction ends.
    ///
    /// # Errors
    /// The destination refused, or the connection is gone.
    ///
    /// # Cancel safety
    /// Not cancel safe: a dropped call leaves the transaction in an unknown state; roll it back.
    pub async fn open(&mut self, client: &Client) -> Result<(), Failure> {
        let _ = (client, &self.generation, &self.completeness);
        Err(Fault::ConnectionLost.into())
    }

    /// Applies the pieces in order. Nothing is committed here.
    ///
    /// # Errors
    /// [`Failure::Database`] when a statement failed for good, [`Failure::Stop`] when going on would be a guess:
    /// `source_table_unmapped`, `truncate_halt`, `change_unsupported`, `row_key_missing`, `row_incomplete`,
    /// `destination_diverged`, `destination_unique_conflict`, `schema_change_destructive`,
    /// `source_column_unmapped`. The transaction must be rolled back.
    ///
    /// # Cancel safety
    /// Not cancel safe: a dropped call leaves the transaction in an unknown state; roll it back.
    pub async fn apply(&mut self, client: &Client, pieces: &[Piece]) -> Result<Applied, Failure> {
        let _ = (client, pieces);
        Err(Fault::ConnectionLost.into())
    }
}
