//! What a history carries from version to version is sealed anew when an older key sealed it.
//!
//! The destination copies what it carries, so this comes after: of the versions just written it answers those whose
//! envelope begins with an older key. After a rotation that is every row once; a sink with one key does not ask. Values
//! are fetched and written back a few at a time, because each may be as large as a value can be.

use replicant_transport::cell::Cell;

use super::fault::Failure;
use super::filled::{Filled as _, FilledPrepared};
use super::filled_sql::FilledAction;
use super::flush::Flush;
use super::pipeline::Pipeline;
use super::reinsert::Raw;
use super::statements::Statements;
use super::versions::Openings;
use crate::plan::{ColumnSet, Images, Version, VersionSet, statements as cut};

/// One version, and the bytes of its sealed values.
type Carrying = (Version, usize);

impl Flush<'_> {
    /// Seals anew what versions of this set carried.
    pub(super) async fn reseal(
        &self,
        statements: &mut Statements,
        openings: &Openings<'_, '_>,
        set: &VersionSet,
    ) -> Result<(), Failure> {
        let sealed = (0..self.table.columns.len())
            .filter(|column| set.carried.contains(*column) && self.table.seals.has(*column));
        let sealed: Vec<usize> = sealed.collect();
        let heads = self.table.seals.older_heads();
        if sealed.is_empty() || heads.is_empty() {
            return Ok(());
        }
        let mut columns = ColumnSet::default();
        for column in &sealed {
            columns.insert(*column);
        }
        let action = FilledAction::Carried(heads);
        let carried = self.filled(statements, action, Some(&columns)).await?;
        let bytes = |version: &Version| openings.images().bytes(version.row);
        for chunk in cut(&set.versions, bytes) {
            let found = self.carrying(&carried, openings, chunk).await?;
            for few in cut(&found, |(_, bytes)| *bytes) {
                self.seal_anew(statements, openings, few, (&columns, &sealed))
                    .await?;
            }
        }
        Ok(())
    }

    /// Those that hold what an older key sealed.
    async fn carrying(
        &self,
        carried: &FilledPrepared,
        openings: &Openings<'_, '_>,
        chunk: &[Version],
    ) -> Result<Vec<Carrying>, Failure> {
        let mut answers = self.filled_answers(carried, openings, chunk).await?;
        let mut found = Vec::new();
        while let Some(answer) = self.next(&mut answers).await? {
            let bytes: i64 = answer.try_get(1).map_err(|error| self.fault(&error))?;
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            found.push((*self.among(&answer, chunk)?, bytes));
        }
        Ok(found)
    }

    async fn seal_anew(
        &self,
        statements: &mut Statements,
        openings: &Openings<'_, '_>,
        few: &[Carrying],
        (columns, sealed): (&ColumnSet, &[usize]),
    ) -> Result<(), Failure> {
        let few: Vec<Version> = few.iter().map(|(version, _)| *version).collect();
        let values = self
            .filled(statements, FilledAction::Values, Some(columns))
            .await?;
        let reseal = self
            .filled(statements, FilledAction::Reseal, Some(columns))
            .await?;
        let mut answers = self.filled_answers(&values, openings, &few).await?;
        let mut stored = Vec::with_capacity(few.len());
        while let Some(answer) = self.next(&mut answers).await? {
            stored.push((*self.among(&answer, &few)?, answer));
        }
        let mut images = Images::new(self.table.columns.len());
        let mut anew = Vec::with_capacity(stored.len());
        for (version, answer) in &stored {
            let mut cells: Vec<Cell<'_>> = openings.images().row(version.row).to_vec();
            for (place, column) in sealed.iter().enumerate() {
                let value = answer.try_get::<_, Option<Raw<'_>>>(place + 1);
                let value = value.map_err(|error| self.fault(&error))?;
                if let Some(cell) = cells.get_mut(*column) {
                    // Writing it opens and seals it.
                    *cell = value.map_or(Cell::Null, |Raw(envelope)| Cell::Binary(envelope));
                }
            }
            let row = images.push(cells.into_iter());
            anew.push(Version { row, ..*version });
        }
        let openings = openings.over(&images);
        let mut pipeline = Pipeline::wide(self.client);
        pipeline.execute_filled(&reseal, &openings, &anew).await;
        let counts = pipeline.finish().await;
        let written: u64 = counts.map_err(|error| self.fault(&error))?.iter().sum();
        if u64::try_from(few.len()) == Ok(written) {
            Ok(())
        } else {
            Err(self.diverged())
        }
    }
}
