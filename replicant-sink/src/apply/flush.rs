//! How one batch is written: a savepoint, the statements, and the ladder of ways to write when a unique value is
//! in the way.
//!
//! 1. `Sets`: deletes, updates, plain inserts, each over many rows.
//! 2. `Upserts`: the same, inserts replacing the row of the same key.
//! 3. `Rows`: as on the source, change by change. A value that moved through a temporary one finds its way.
//! 4. `Reinsert`: touched keys deleted, final images inserted. A swap that the source allowed because its
//!    constraint is deferrable finds its way.
//!
//! A conflict rolls back to the savepoint and climbs; the last rung's conflict stops. Deferrable constraints conflict
//! at COMMIT only.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use tokio_postgres::{Client, Row as Answer, RowStream};

use super::copy::{COPY_ROWS_MIN, can_copy, copy};
use super::fault::Failure;
use super::filled::{Filled, FilledArray, FilledPrepared};
use super::filled_sql::FilledAction;
use super::pipeline::Pipeline;
use super::sql::Action;
use super::statements::{Prepared, Statements};
use super::{Applied, Rung};
use crate::error::Error;
use crate::generation::{Table, UpsertMeets};
use crate::plan::{
    ColumnSet, Completeness, Folded, Images, Mapping, Operation, Row, Verb, chunks, first_chunks,
    is_whole, known_columns,
};
use crate::reason::Reason;

const SAVEPOINT: &str = "savepoint replicant_flush";
const RELEASE: &str = "release savepoint replicant_flush";
const ROLL_BACK: &str = "rollback to savepoint replicant_flush; release savepoint replicant_flush";

/// Where a batch is written.
#[derive(Clone, Copy)]
pub(super) struct Flush<'f> {
    pub(super) client: &'f Client,
    pub(super) index: usize,
    pub(super) table: &'f Table,
    pub(super) completeness: Completeness,
}

/// What a batch did.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Tally {
    pub(super) affected: u64,
    pub(super) absent_deletes: u64,
    pub(super) absent_updates: u64,
    pub(super) repeated_events: u64,
}

impl Tally {
    pub(super) fn add_to(self, applied: &mut Applied) {
        applied.rows_affected += self.affected;
        applied.absent_deletes += self.absent_deletes;
        applied.absent_updates += self.absent_updates;
        applied.repeated_events += self.repeated_events;
    }
}

/// The rung to try after a conflict on this one; `None` at the top.
pub(super) fn next_rung(
    rung: Rung,
    table: &Table,
    mapping: &Mapping,
    operations: &[Operation],
) -> Option<Rung> {
    let inserts = operations
        .iter()
        .any(|operation| matches!(operation.verb, Verb::Insert | Verb::Arrive));
    match rung {
        Rung::Sets if inserts => Some(Rung::Upserts),
        Rung::Sets | Rung::Upserts => Some(Rung::Rows),
        Rung::Rows if mapping.may_replace(table) => Some(Rung::Reinsert),
        Rung::Rows | Rung::Reinsert => None,
    }
}

impl<'f> Flush<'f> {
    pub(super) fn fault(&self, error: &tokio_postgres::Error) -> Failure {
        Failure::of(error, Some(self.table))
    }

    pub(super) fn stop(&self, reason: Reason, fact: &str) -> Failure {
        Failure::Stop(Error::new(reason, self.table.site().fact(fact)))
    }

    pub(super) async fn open(&self, pipeline: &mut Pipeline<'f>) {
        pipeline.command(SAVEPOINT).await;
    }

    pub(super) async fn close(&self, pipeline: &mut Pipeline<'f>) {
        pipeline.command(RELEASE).await;
    }

    /// Undoes the batch.
    pub(super) async fn roll_back(&self) -> Result<(), Failure> {
        let done = self.client.batch_execute(ROLL_BACK).await;
        done.map_err(|error| self.fault(&error))
    }

    pub(super) async fn prepared(
        &self,
        statements: &mut Statements,
        action: Action,
        columns: &ColumnSet,
    ) -> Result<Arc<Prepared>, Failure> {
        statements
            .get(self.client, (self.index, self.table), action, columns)
            .await
    }

    /// The prepared statement of a history or a log.
    pub(super) async fn filled(
        &self,
        statements: &mut Statements,
        action: FilledAction,
        columns: Option<&ColumnSet>,
    ) -> Result<Arc<FilledPrepared>, Failure> {
        let none = ColumnSet::default();
        let columns = columns.unwrap_or(&none);
        statements
            .filled(self.client, (self.index, self.table), action, columns)
            .await
    }

    /// The first two rungs.
    pub(super) async fn sets(
        &self,
        statements: &mut Statements,
        folded: &Folded<'_>,
        operations: &[Operation],
        rung: Rung,
    ) -> Result<Tally, Failure> {
        let mut writes = Vec::with_capacity(operations.len());
        for operation in operations {
            let action = self.action(operation, rung);
            let columns = &operation.columns;
            let prepared = self.prepared(statements, action, columns).await?;
            writes.push((operation, action, prepared));
        }
        let mut pipeline = Pipeline::wide(self.client);
        self.open(&mut pipeline).await;
        let mut planned: Vec<(&Operation, &[Row])> = Vec::new();
        let mut tally = Tally::default();
        for (operation, action, prepared) in &writes {
            if *action == Action::Copy {
                let (columns, rows) = (&operation.columns, &operation.rows);
                let images = &folded.images;
                let statement = &prepared.statement;
                if !pipeline.stands().await {
                    break;
                }
                let copied = copy(self.client, statement, self.table, columns, images, rows).await;
                let count = match copied {
                    Ok(count) => count,
                    Err(failure) => return Err(failure),
                };
                self.expect_all(count, rows.len())?;
                tally.affected += count;
                continue;
            }
            let images = &folded.images;
            let cut: Vec<&[Row]> = if planned.is_empty() {
                first_chunks(images, &operation.rows).collect()
            } else {
                chunks(images, &operation.rows).collect()
            };
            for chunk in cut {
                planned.push((operation, chunk));
                pipeline.execute(prepared, images, chunk, chunk).await;
            }
        }
        // Rows that turn out to be absent are inserted before the savepoint is released, so that a conflict of
        // theirs climbs the ladder too.
        let hold = self.completeness != Completeness::Complete
            && operations
                .iter()
                .any(|operation| operation.verb == Verb::Update);
        if !hold {
            self.close(&mut pipeline).await;
        }
        let counts = pipeline
            .finish()
            .await
            .map_err(|error| self.fault(&error))?;
        let mut short = Vec::new();
        let mut undeleted = Vec::new();
        // The first answer is the savepoint's.
        for ((operation, chunk), count) in planned.iter().zip(counts.into_iter().skip(1)) {
            tally.affected += count;
            let missing = self.missing(count, chunk.len())?;
            match operation.verb {
                _ if missing == 0 => {}
                Verb::Delete => {
                    tally.absent_deletes += missing;
                    undeleted.push(*chunk);
                }
                Verb::Depart if self.completeness != Completeness::Complete => {}
                Verb::Update if self.completeness != Completeness::Complete => {
                    short.push((*chunk, missing));
                }
                Verb::Upsert | Verb::Insert | Verb::Arrive if self.may_do_nothing() => {}
                Verb::Upsert | Verb::Insert | Verb::Arrive => return Err(self.not_written()),
                _ => return Err(self.diverged()),
            }
        }
        for chunk in undeleted {
            self.require_absent(statements, &folded.images, chunk)
                .await?;
        }
        if hold {
            for (chunk, missing) in short {
                let images = &folded.images;
                let absent = self.absent(statements, images, chunk).await?;
                if u64::try_from(absent.len()) != Ok(missing) {
                    return Err(self.diverged());
                }
                tally.affected += self
                    .insert_whole(statements, &folded.mapping, images, &absent)
                    .await?;
                tally.absent_updates += missing;
            }
            let mut pipeline = Pipeline::wide(self.client);
            self.close(&mut pipeline).await;
            let done = pipeline.finish().await;
            done.map_err(|error| self.fault(&error))?;
        }
        Ok(tally)
    }

    fn action(&self, operation: &Operation, rung: Rung) -> Action {
        let upserts = rung == Rung::Upserts;
        match operation.verb {
            Verb::Depart | Verb::Delete => Action::Delete,
            Verb::Update => Action::Update,
            Verb::Upsert => Action::Upsert,
            Verb::Insert if upserts => Action::Upsert,
            // In a complete table nothing can have the key that a row newly takes; if something does, it is
            // another row of the source, which must not be overwritten.
            Verb::Arrive if upserts && self.completeness != Completeness::Complete => {
                Action::Upsert
            }
            Verb::Insert | Verb::Arrive => {
                if operation.rows.len() >= COPY_ROWS_MIN && can_copy(self.table, &operation.columns)
                {
                    Action::Copy
                } else {
                    Action::Insert
                }
            }
        }
    }

    /// A delete that finds no row is right as long as there is none: what a trigger or a rule vetoed is still there.
    pub(super) async fn require_absent(
        &self,
        statements: &mut Statements,
        images: &Images<'_>,
        chunk: &[Row],
    ) -> Result<(), Failure> {
        let absent = self.absent(statements, images, chunk).await?;
        if absent.len() == chunk.len() {
            return Ok(());
        }
        let fact = "a row that was deleted is still there";
        Err(self.stop(Reason::DestinationDiverged, fact))
    }

    /// The rows of a chunk whose key no destination row has.
    pub(super) async fn absent(
        &self,
        statements: &mut Statements,
        images: &Images<'_>,
        chunk: &[Row],
    ) -> Result<Vec<Row>, Failure> {
        let none = ColumnSet::default();
        let prepared = self.prepared(statements, Action::Absent, &none).await?;
        let mut answers = self.answers(&prepared, images, chunk).await?;
        let mut absent = Vec::new();
        while let Some(answer) = self.next(&mut answers).await? {
            absent.push(self.place(&answer, chunk)?);
        }
        Ok(absent)
    }

    /// Runs a statement that answers rows, which come as they are asked for.
    pub(super) async fn answers(
        &self,
        prepared: &Prepared,
        images: &Images<'_>,
        chunk: &[Row],
    ) -> Result<Pin<Box<RowStream>>, Failure> {
        let parameters = &prepared.parameters;
        let arrays: Vec<_> = parameters
            .iter()
            .map(|parameter| {
                super::parameter::ArrayOf::new(images, chunk, parameter, &prepared.seals)
            })
            .collect();
        let answers = self.client.query_raw(&prepared.statement, arrays).await;
        let answers = answers.map_err(|error| self.fault(&error))?;
        Ok(Box::pin(answers))
    }

    /// The same for rows with columns that the sink fills.
    pub(super) async fn filled_answers<F: Filled + Sync>(
        &self,
        prepared: &FilledPrepared,
        filled: &F,
        items: &[F::Item],
    ) -> Result<Pin<Box<RowStream>>, Failure>
    where
        F::Item: Sync,
    {
        let arrays = FilledArray::all(filled, items, prepared);
        let answers = self.client.query_raw(&prepared.statement, arrays).await;
        let answers = answers.map_err(|error| self.fault(&error))?;
        Ok(Box::pin(answers))
    }

    /// The next of these rows.
    pub(super) async fn next(
        &self,
        answers: &mut Pin<Box<RowStream>>,
    ) -> Result<Option<Answer>, Failure> {
        let next = answers.try_next().await;
        next.map_err(|error| self.fault(&error))
    }

    /// The row of the chunk that an answer's first column, a 1-based place, means.
    pub(super) fn place(&self, answer: &Answer, chunk: &[Row]) -> Result<Row, Failure> {
        self.among(answer, chunk).copied()
    }

    /// The same among anything that a statement was given.
    pub(super) fn among<'i, T>(&self, answer: &Answer, chunk: &'i [T]) -> Result<&'i T, Failure> {
        let place = answer
            .try_get::<_, i64>(0)
            .map_err(|error| self.fault(&error))?;
        let found = usize::try_from(place)
            .ok()
            .and_then(|place| chunk.get(place.checked_sub(1)?));
        found.ok_or_else(|| Failure::internal(&self.table.shown))
    }

    /// Inserts rows that updates did not find, if everything about them is known.
    pub(super) async fn insert_whole(
        &self,
        statements: &mut Statements,
        mapping: &Mapping,
        images: &Images<'_>,
        rows: &[Row],
    ) -> Result<u64, Failure> {
        let Some(first) = rows.first() else {
            return Ok(0);
        };
        if !rows.iter().all(|row| is_whole(mapping, images, *row)) {
            return Err(self.stop(
                Reason::RowIncomplete,
                "an update of an absent row has unknown values",
            ));
        }
        let mut columns = ColumnSet::default();
        known_columns(images, *first, &mut columns);
        let prepared = self.prepared(statements, Action::Upsert, &columns).await?;
        let mut pipeline = Pipeline::wide(self.client);
        pipeline.execute(&prepared, images, rows, rows).await;
        let counts = pipeline
            .finish()
            .await
            .map_err(|error| self.fault(&error))?;
        let count = counts.iter().sum();
        self.expect_all(count, rows.len())?;
        Ok(count)
    }

    /// How many of the planned rows were not affected. More than planned is divergence: one key, two rows.
    pub(super) fn missing(&self, count: u64, planned: usize) -> Result<u64, Failure> {
        let planned = u64::try_from(planned).unwrap_or(u64::MAX);
        planned.checked_sub(count).ok_or_else(|| self.diverged())
    }

    pub(super) fn expect_all(&self, count: u64, planned: usize) -> Result<(), Failure> {
        match self.missing(count, planned)? {
            0 => Ok(()),
            _ if self.may_do_nothing() => Ok(()),
            _ => Err(self.not_written()),
        }
    }

    /// An insert or upsert wrote fewer rows than it was given.
    pub(super) fn not_written(&self) -> Failure {
        match self.table.upsert_meets {
            UpsertMeets::Own => self.diverged(),
            UpsertMeets::AnyTenants(_) => self.stop(
                Reason::TenantConflict,
                "the identity of all tenants that rows are found by",
            ),
        }
    }

    /// An upsert of a table that has only key columns leaves an existing row alone, and counts it as nothing.
    pub(super) fn may_do_nothing(&self) -> bool {
        if self.table.upsert_meets != UpsertMeets::Own {
            return false;
        }
        let keys = self.table.row_match.key();
        self.table
            .columns
            .iter()
            .enumerate()
            .all(|(index, column)| {
                column.target_identity || keys.iter().any(|key| key.column == index)
            })
    }

    pub(super) fn diverged(&self) -> Failure {
        self.stop(
            Reason::DestinationDiverged,
            "a statement affected another number of rows than planned",
        )
    }
}
