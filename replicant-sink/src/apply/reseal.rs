//! What a history carries from version to version is sealed anew when an older key sealed it.
//!
//! The destination copies what it carries, so this comes after: of the versions just written it answers those whose
//! envelope begins with another key. After a rotation that is every row once; a sink with one key does not ask.

use replicant_transport::cell::Cell;

use super::fault::Failure;
use super::filled::{Filled as _, FilledArray};
use super::filled_sql::FilledAction;
use super::flush::Flush;
use super::pipeline::Pipeline;
use super::reinsert::Raw;
use super::statements::Statements;
use super::versions::Openings;
use crate::plan::{ColumnSet, Images, Version, VersionSet};

/// Versions looked at together: each may hold a value of any size.
const ROWS: usize = 64;

impl Flush<'_> {
    /// Seals anew what versions of this set carried.
    pub(super) async fn reseal(
        &self,
        statements: &mut Statements,
        openings: &Openings<'_, '_>,
        set: &VersionSet,
    ) -> Result<(), Failure> {
        let Some(current) = self.table.seals.current_head() else {
            return Ok(());
        };
        let mut columns = ColumnSet::default();
        let sealed = (0..self.table.columns.len())
            .filter(|column| set.carried.contains(*column) && self.table.seals.has(*column));
        let sealed: Vec<usize> = sealed.collect();
        for column in &sealed {
            columns.insert(*column);
        }
        if columns.is_empty() {
            return Ok(());
        }
        let action = FilledAction::Carried(current);
        let carried = self.filled(statements, action, Some(&columns)).await?;
        let action = FilledAction::Reseal;
        let reseal = self.filled(statements, action, Some(&columns)).await?;
        for chunk in set.versions.chunks(ROWS) {
            let arrays = FilledArray::all(openings, chunk, &carried);
            let answers = self.client.query_raw(&carried.statement, arrays).await;
            let mut answers = Box::pin(answers.map_err(|error| self.fault(&error))?);
            let mut found = Vec::new();
            while let Some(answer) = self.next(&mut answers).await? {
                found.push((*self.among(&answer, chunk)?, answer));
            }
            if found.is_empty() {
                continue;
            }
            let mut images = Images::new(self.table.columns.len());
            let mut anew = Vec::with_capacity(found.len());
            for (version, answer) in &found {
                let mut cells: Vec<Cell<'_>> = openings.images().row(version.row).to_vec();
                for (place, column) in sealed.iter().enumerate() {
                    let value = answer.try_get::<_, Option<Raw<'_>>>(place + 1);
                    let value = value.map_err(|error| self.fault(&error))?;
                    if let Some(cell) = cells.get_mut(*column) {
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
            let counts = counts.map_err(|error| self.fault(&error))?;
            if counts.iter().sum::<u64>() != u64::try_from(anew.len()).unwrap_or(u64::MAX) {
                return Err(self.diverged());
            }
        }
        Ok(())
    }
}
