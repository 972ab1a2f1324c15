//! The last rung: touched keys are deleted, then their final images inserted.
//!
//! What an update does not know of its row is read from the destination first, as long as that fits into memory.

use std::collections::HashMap;
use std::error::Error as StdError;

use postgres_types::{FromSql, Type};
use replicant_transport::cell::Cell;
use tokio_postgres::Row as Answer;

use super::fault::Failure;
use super::flush::{Flush, Tally};
use super::pipeline::Pipeline;
use super::sql::Action;
use super::statements::Statements;
use crate::generation::Travel;
use crate::plan::{
    ColumnSet, Completeness, Folded, Images, Operation, Row, Verb, chunks, is_whole, known_columns,
};
use crate::reason::Reason;

/// Stored values held at most. A group may touch many rows whose large values it never sent; holding those of all
/// rows could take any amount of memory.
const STORED_BYTES_MAX: usize = 64 << 20;
/// Rows asked for at once, so that little is on its way when the limit is reached.
const STORED_ROWS: usize = 64;

impl Flush<'_> {
    pub(super) async fn reinsert(
        &self,
        statements: &mut Statements,
        folded: &Folded<'_>,
        operations: &[Operation],
    ) -> Result<Tally, Failure> {
        self.require_arrivals_are_new(statements, folded, operations)
            .await?;
        let stored = self.stored(statements, folded, operations).await?;
        let mut images = Images::new(self.table.columns.len());
        let mut inserts: Vec<(ColumnSet, Vec<Row>)> = Vec::new();
        for operation in operations {
            if matches!(operation.verb, Verb::Delete | Verb::Depart) {
                continue;
            }
            for row in &operation.rows {
                let image = images.push(folded.images.row(*row).iter().copied());
                if let Some(answer) = stored.get(row) {
                    let before = images.push(self.cells(answer)?.into_iter());
                    images.complete(image, before);
                }
                if !is_whole(&folded.mapping, &images, image) {
                    let fact = "an update of an absent row has unknown values";
                    return Err(match self.completeness {
                        Completeness::Complete => self.diverged(),
                        Completeness::Filling | Completeness::Open => {
                            self.stop(Reason::RowIncomplete, fact)
                        }
                    });
                }
                let mut columns = ColumnSet::default();
                known_columns(&images, image, &mut columns);
                match inserts.iter_mut().find(|(known, _)| *known == columns) {
                    Some((_, rows)) => rows.push(image),
                    None => inserts.push((columns, vec![image])),
                }
            }
        }
        self.delete_and_insert(statements, folded, operations, (&images, &inserts))
            .await
    }

    async fn delete_and_insert(
        &self,
        statements: &mut Statements,
        folded: &Folded<'_>,
        operations: &[Operation],
        (images, inserts): (&Images<'_>, &[(ColumnSet, Vec<Row>)]),
    ) -> Result<Tally, Failure> {
        let none = ColumnSet::default();
        let delete = self.prepared(statements, Action::Delete, &none).await?;
        let mut prepared = Vec::with_capacity(inserts.len());
        for (columns, _) in inserts {
            prepared.push(self.prepared(statements, Action::Insert, columns).await?);
        }
        let mut pipeline = Pipeline::wide(self.client);
        self.open(&mut pipeline).await;
        let mut planned = Vec::new();
        for operation in operations {
            for chunk in chunks(&folded.images, &operation.rows) {
                planned.push((operation.verb, chunk));
                pipeline
                    .execute(&delete, &folded.images, chunk, chunk)
                    .await;
            }
        }
        for ((_, rows), insert) in inserts.iter().zip(&prepared) {
            for chunk in chunks(images, rows) {
                planned.push((Verb::Insert, chunk));
                pipeline.execute(insert, images, chunk, chunk).await;
            }
        }
        self.close(&mut pipeline).await;
        let counts = pipeline.finish().await;
        let counts = counts.map_err(|error| self.fault(&error))?;
        let deletes = planned.len() - prepared_chunks(images, inserts);
        let mut tally = Tally::default();
        for (place, ((verb, rows), count)) in
            planned.iter().zip(counts.into_iter().skip(1)).enumerate()
        {
            let missing = self.missing(count, rows.len())?;
            if place >= deletes {
                tally.affected += count;
                self.expect_all(count, rows.len())?;
                continue;
            }
            match verb {
                _ if missing == 0 => {}
                Verb::Insert | Verb::Upsert | Verb::Arrive => {}
                Verb::Delete => {
                    tally.absent_deletes += missing;
                    self.require_absent(statements, &folded.images, rows)
                        .await?;
                }
                Verb::Update | Verb::Depart if self.completeness == Completeness::Complete => {
                    return Err(self.diverged());
                }
                Verb::Update => tally.absent_updates += missing,
                Verb::Depart => {}
            }
            if matches!(verb, Verb::Delete | Verb::Depart) {
                tally.affected += count;
            }
        }
        Ok(tally)
    }

    /// In a complete table nothing has the key that a row newly takes. If something does, two rows of the source
    /// exchange keys under a deferred constraint, and which is which cannot be told any more.
    async fn require_arrivals_are_new(
        &self,
        statements: &mut Statements,
        folded: &Folded<'_>,
        operations: &[Operation],
    ) -> Result<(), Failure> {
        if self.completeness != Completeness::Complete {
            return Ok(());
        }
        for operation in operations {
            if operation.verb != Verb::Arrive {
                continue;
            }
            for chunk in chunks(&folded.images, &operation.rows) {
                let absent = self.absent(statements, &folded.images, chunk).await?;
                if absent.len() != chunk.len() {
                    let fact = "another row has the key that a row newly takes";
                    return Err(self.stop(Reason::DestinationUniqueConflict, fact));
                }
            }
        }
        Ok(())
    }

    /// The stored rows of the updates that do not know their whole row.
    async fn stored(
        &self,
        statements: &mut Statements,
        folded: &Folded<'_>,
        operations: &[Operation],
    ) -> Result<HashMap<Row, Answer>, Failure> {
        let mut stored = HashMap::new();
        let mut bytes = 0usize;
        for operation in operations {
            let lacking: Vec<Row> = operation
                .rows
                .iter()
                .copied()
                .filter(|row| !is_whole(&folded.mapping, &folded.images, *row))
                .collect();
            if operation.verb != Verb::Update || lacking.is_empty() {
                continue;
            }
            let none = ColumnSet::default();
            let prepared = self.prepared(statements, Action::Stored, &none).await?;
            for chunk in lacking.chunks(STORED_ROWS) {
                let mut answers = self.answers(&prepared, &folded.images, chunk).await?;
                while let Some(answer) = self.next(&mut answers).await? {
                    bytes = bytes.saturating_add(answer.raw_size_bytes());
                    if bytes > STORED_BYTES_MAX {
                        let fact = "unique values exchange between rows too large to be held";
                        return Err(self.stop(Reason::DestinationUniqueConflict, fact));
                    }
                    stored.insert(self.place(&answer, chunk)?, answer);
                }
            }
        }
        Ok(stored)
    }

    fn cells<'s>(&self, answer: &'s Answer) -> Result<Vec<Cell<'s>>, Failure> {
        let mut cells = Vec::with_capacity(self.table.columns.len());
        for (index, column) in self.table.columns.iter().enumerate() {
            let value = answer
                .try_get::<_, Option<Raw<'s>>>(index + 1)
                .map_err(|error| self.fault(&error))?;
            cells.push(match (value, &column.travel) {
                (None, _) => Cell::Null,
                (Some(Raw(bytes)), Travel::Binary { .. } | Travel::Sealed) => Cell::Binary(bytes),
                (Some(Raw(bytes)), Travel::Text { .. }) => Cell::Text(bytes),
            });
        }
        Ok(cells)
    }
}

fn prepared_chunks(images: &Images<'_>, inserts: &[(ColumnSet, Vec<Row>)]) -> usize {
    inserts
        .iter()
        .map(|(_, rows)| chunks(images, rows).count())
        .sum()
}

/// A value as the server sent it.
pub(super) struct Raw<'s>(pub(super) &'s [u8]);

impl<'s> FromSql<'s> for Raw<'s> {
    fn from_sql(_ty: &Type, raw: &'s [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }
}
