//! How a plan becomes rows: SQL text, parameters, savepoints and the ladder, inside an open destination transaction.

mod copy;
mod fault;
mod flush;
mod parameter;
mod pipeline;
mod reinsert;
mod rows;
mod sql;
mod statements;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use tokio_postgres::Client;

pub use fault::Failure;
pub use replicant_checkpoint::store::Fault;

use crate::error::Error;
use crate::generation::{Constraints, Generation};
use crate::plan::{
    Batch, Completeness, Folded, Piece, Resolver, Step, Work, in_source_order, lower, plan,
};
use crate::reason::Reason;
use flush::{Flush, Tally, next_rung};
use statements::Statements;

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

impl Applied {
    /// Adds what another call applied.
    pub(crate) fn add(&mut self, other: &Self) {
        self.inserts += other.inserts;
        self.updates += other.updates;
        self.deletes += other.deletes;
        self.truncates += other.truncates;
        self.ignored += other.ignored;
        self.rows_affected += other.rows_affected;
        self.absent_deletes += other.absent_deletes;
        self.absent_updates += other.absent_updates;
        self.rung = self.rung.max(other.rung);
    }

    /// Source changes that were applied.
    pub(crate) fn changes(&self) -> u64 {
        self.inserts + self.updates + self.deletes + self.truncates
    }
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
    /// As on the source, deferrable uniqueness left to what follows: one source statement can span several flushes.
    Pending,
}

impl Rung {
    /// Stable name, the label of the metric.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sets => "sets",
            Self::Upserts => "upserts",
            Self::Rows => "rows",
            Self::Reinsert => "reinsert",
            Self::Pending => "pending",
        }
    }
}

/// Applies pieces on one destination connection.
#[derive(Debug)]
pub struct Applier {
    resolver: Resolver,
    completeness: Arc<[Completeness]>,
    statements: Statements,
    /// Where the ladder starts, per table: a table that had rows of the same key once will have more.
    first_rung: Vec<Rung>,
    /// Run at the start of each destination transaction.
    opening: Option<String>,
    /// Run at the end of each flush.
    check_unique: Option<String>,
    /// The table whose deferrable uniqueness a flush of this call left to what follows.
    pending: Option<usize>,
}

impl Applier {
    /// For one destination connection; it keeps statements prepared on that connection.
    ///
    /// `completeness` has one entry per table of the generation, in its order.
    pub fn new(generation: Arc<Generation>, completeness: Arc<[Completeness]>) -> Self {
        let (opening, check_unique) = constraint_commands(&generation.constraints);
        Self {
            first_rung: vec![Rung::Sets; generation.tables.len()],
            resolver: Resolver::new(generation),
            completeness,
            statements: Statements::default(),
            opening,
            check_unique,
            pending: None,
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
        if let Some(opening) = &self.opening {
            let done = client.batch_execute(opening).await;
            done.map_err(|error| Failure::of(&error, None))?;
        }
        Ok(())
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
        let generation = Arc::clone(self.resolver.generation());
        self.pending = None;
        let planned = plan(&mut self.resolver, pieces)?;
        let mut applied = Applied {
            inserts: planned.counts.inserts,
            updates: planned.counts.updates,
            deletes: planned.counts.deletes,
            truncates: planned.counts.truncates,
            ignored: planned.counts.ignored,
            ..Applied::default()
        };
        for step in &planned.steps {
            match step {
                Step::Truncate(tables) => {
                    empty(client, &generation, tables, &mut applied).await?;
                }
                Step::Tables(work) => {
                    for work in work {
                        self.work(client, &generation, pieces, work, &mut applied)
                            .await?;
                    }
                }
            }
        }
        self.check_pending(client, &generation).await?;
        Ok(applied)
    }

    /// What flushes left pending must hold once everything is written.
    async fn check_pending(
        &mut self,
        client: &Client,
        generation: &Generation,
    ) -> Result<(), Failure> {
        let pending = self.pending.take().and_then(|at| generation.tables.get(at));
        let (Some(table), Some(check)) = (pending, &self.check_unique) else {
            return Ok(());
        };
        let checked = client.batch_execute(check).await;
        checked.map_err(|error| {
            let failure = Failure::of(&error, Some(&table.target));
            if failure.is_conflict() {
                Failure::Stop(Error::new(
                    Reason::DestinationUniqueConflict,
                    Site::table(&table.target),
                ))
            } else {
                failure
            }
        })
    }

    async fn work(
        &mut self,
        client: &Client,
        generation: &Generation,
        pieces: &[Piece],
        work: &Work<'_>,
        applied: &mut Applied,
    ) -> Result<(), Failure> {
        let Some(table) = generation.tables.get(work.table) else {
            return Ok(());
        };
        let check_unique = self.check_unique.clone();
        let flush = Flush {
            client,
            index: work.table,
            table,
            // What is not known to be complete may lack rows.
            completeness: self
                .completeness
                .get(work.table)
                .copied()
                .unwrap_or(Completeness::Open),
            check_unique: check_unique.as_deref(),
        };
        for batch in &work.batches {
            let (tally, rung) = match batch {
                Batch::Folded(folded) => self.climb(&flush, pieces, folded).await?,
                Batch::Rows(rows) => {
                    let written = flush
                        .in_order(&mut self.statements, std::slice::from_ref(rows))
                        .await;
                    match written {
                        Ok(tally) => (tally, Rung::Rows),
                        Err(failure) if failure.is_conflict() => {
                            flush.roll_back().await?;
                            let rows = std::slice::from_ref(rows);
                            let tally = flush.pending(&mut self.statements, rows).await?;
                            (tally, Rung::Pending)
                        }
                        Err(failure) => return Err(failure),
                    }
                }
            };
            if rung == Rung::Pending {
                self.pending = Some(work.table);
            }
            tally.add_to(applied);
            applied.rung = applied.rung.max(rung);
        }
        Ok(())
    }

    /// Writes net effects, trying another way after each conflict.
    async fn climb(
        &mut self,
        flush: &Flush<'_>,
        pieces: &[Piece],
        folded: &Folded<'_>,
    ) -> Result<(Tally, Rung), Failure> {
        let operations = lower(flush.table, folded);
        let statements = &mut self.statements;
        let mut rung = self
            .first_rung
            .get(flush.index)
            .copied()
            .unwrap_or_default();
        loop {
            let written = match rung {
                Rung::Sets | Rung::Upserts => {
                    flush.sets(statements, folded, &operations, rung).await
                }
                Rung::Rows => {
                    let resolver = &mut self.resolver;
                    let batches = in_source_order(resolver, pieces, flush.index, folded.span)?;
                    flush.in_order(statements, &batches).await
                }
                Rung::Reinsert => flush.reinsert(statements, folded, &operations).await,
                Rung::Pending => {
                    let resolver = &mut self.resolver;
                    let batches = in_source_order(resolver, pieces, flush.index, folded.span)?;
                    flush.pending(statements, &batches).await
                }
            };
            match written {
                Ok(tally) => {
                    if rung == Rung::Upserts
                        && let Some(first) = self.first_rung.get_mut(flush.index)
                    {
                        *first = rung;
                    }
                    return Ok((tally, rung));
                }
                Err(failure) if rung != Rung::Pending && failure.is_conflict() => {
                    flush.roll_back().await?;
                    rung = next_rung(rung, flush.table, &operations);
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}

/// Empties tables by DELETE, so that foreign keys and triggers see what they would see of rows.
async fn empty(
    client: &Client,
    generation: &Generation,
    tables: &[usize],
    applied: &mut Applied,
) -> Result<(), Failure> {
    for index in tables {
        if let Some(table) = generation.tables.get(*index) {
            let statement = sql::empty(table);
            let count = client
                .execute_typed(&statement, &[])
                .await
                .map_err(|error| Failure::of(&error, Some(&table.target)))?;
            applied.rows_affected += count;
        }
    }
    Ok(())
}

/// What to run at the start of a transaction and at the end of each flush.
fn constraint_commands(constraints: &Constraints) -> (Option<String>, Option<String>) {
    let Constraints::Deferred {
        foreign_keys,
        unique,
    } = constraints
    else {
        let opening = "set local session_replication_role = replica";
        return (Some(opening.to_owned()), None);
    };
    let list = |names: &[QualifiedName]| {
        let quoted: Vec<String> = names.iter().map(|name| name.quoted().to_string()).collect();
        quoted.join(", ")
    };
    let all: Vec<QualifiedName> = foreign_keys.iter().chain(unique).cloned().collect();
    let opening = (!all.is_empty()).then(|| format!("set constraints {} deferred", list(&all)));
    let check = (!unique.is_empty()).then(|| {
        let names = list(unique);
        format!("set constraints {names} immediate; set constraints {names} deferred")
    });
    (opening, check)
}
