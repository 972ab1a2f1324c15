//! How changes are written one by one, in source order: tables whose keys must not be folded, tables without a key,
//! and the third rung of the ladder.
//!
//! Statements of one row are sent without waiting for each other's answers. Only when an update found no row in a
//! table that may lack rows is the batch undone and written again one by one, because what follows an insert made
//! too late could be wrong.

use std::sync::Arc;

use super::fault::Failure;
use super::flush::{Flush, Tally};
use super::pipeline::Pipeline;
use super::sql::Action;
use super::statements::{Prepared, Statements};
use crate::generation::RowMatch;
use crate::plan::{
    ColumnSet, Completeness, Effect, Row, Rows, is_whole, known_columns, sets_anything,
};
use crate::reason::Reason;

/// One statement and the images it takes.
struct Write<'r, 'a> {
    rows: &'r Rows<'a>,
    action: Action,
    prepared: Arc<Prepared>,
    old: Row,
    new: Row,
}

/// May answers be awaited later?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Together,
    OneByOne,
}

enum Outcome {
    Done(Tally),
    /// An update found no row; nothing was undone yet.
    RowAbsent,
}

impl Flush<'_> {
    /// Writes the batches' changes in order, under one savepoint.
    pub(super) async fn in_order(
        &self,
        statements: &mut Statements,
        batches: &[Rows<'_>],
    ) -> Result<Tally, Failure> {
        let mut writes = Vec::new();
        for rows in batches {
            self.prepare_writes(statements, rows, &mut writes).await?;
        }
        match self.write(statements, &writes, Pace::Together).await? {
            Outcome::Done(tally) => Ok(tally),
            Outcome::RowAbsent => {
                self.roll_back().await?;
                match self.write(statements, &writes, Pace::OneByOne).await? {
                    Outcome::Done(tally) => Ok(tally),
                    Outcome::RowAbsent => Err(self.diverged()),
                }
            }
        }
    }

    async fn prepare_writes<'r, 'a>(
        &self,
        statements: &mut Statements,
        rows: &'r Rows<'a>,
        writes: &mut Vec<Write<'r, 'a>>,
    ) -> Result<(), Failure> {
        let keyed = matches!(self.table.row_match, RowMatch::Key(_));
        let mut columns = ColumnSet::default();
        for effect in &rows.effects {
            columns.clear();
            let steps: &[(Action, Row, Row)] = match *effect {
                Effect::Insert { row } => {
                    let action = if keyed {
                        Action::Upsert
                    } else {
                        Action::Insert
                    };
                    &[(action, row, row)]
                }
                Effect::Update { row } => &[(Action::Update, row, row)],
                Effect::Move { old, row } if self.moves_identity() && keyed => {
                    if !is_whole(&rows.mapping, &rows.images, row)
                        || !rows.mapping.may_replace(self.table)
                    {
                        let fact =
                            "the key of an identity column changed and other values are unknown";
                        return Err(self.stop(Reason::RowIncomplete, fact));
                    }
                    &[(Action::Delete, old, old), (Action::Upsert, row, row)]
                }
                Effect::Move { old, row } => &[(Action::Move, old, row)],
                Effect::Delete { old } => &[(Action::Delete, old, old)],
            };
            for &(action, old, new) in steps {
                columns.clear();
                if action != Action::Delete {
                    known_columns(&rows.images, new, &mut columns);
                }
                let sets = match action {
                    Action::Update => sets_anything(self.table, &columns),
                    _ => true,
                };
                if sets {
                    let prepared = self.prepared(statements, action, &columns).await?;
                    writes.push(Write {
                        rows,
                        action,
                        prepared,
                        old,
                        new,
                    });
                }
            }
        }
        Ok(())
    }

    /// Is an identity column, which cannot be set, among the key?
    fn moves_identity(&self) -> bool {
        self.table.row_match.key().iter().any(|key| {
            let column = self.table.columns.get(key.column);
            column.is_some_and(|column| column.target_identity)
        })
    }

    async fn write(
        &self,
        statements: &mut Statements,
        writes: &[Write<'_, '_>],
        pace: Pace,
    ) -> Result<Outcome, Failure> {
        let mut tally = Tally::default();
        let mut pipeline = Pipeline::narrow(self.client);
        self.open(&mut pipeline).await;
        if pace == Pace::OneByOne {
            self.finish(pipeline).await?;
            for write in writes {
                let mut single = Pipeline::narrow(self.client);
                self.send(&mut single, write).await;
                let count = self.finish(single).await?.into_iter().sum();
                if count == 0 && write.action == Action::Delete {
                    self.require_deleted(statements, &[write]).await?;
                }
                if self.judge(write, count, &mut tally)? == Found::Absent {
                    tally.affected += self.insert_absent(statements, write).await?;
                    tally.absent_updates += 1;
                }
            }
            let mut closing = Pipeline::narrow(self.client);
            self.close(&mut closing).await;
            self.finish(closing).await?;
            return Ok(Outcome::Done(tally));
        }
        for write in writes {
            self.send(&mut pipeline, write).await;
        }
        // A table that may lack rows keeps its savepoint until the answers are known.
        let hold = self.completeness != Completeness::Complete;
        if !hold {
            self.close(&mut pipeline).await;
        }
        let counts = self.finish(pipeline).await?;
        // A later change of the batch may have written the key again; what came after the last of these must be gone.
        let writes_keys = |write: &Write<'_, '_>| write.action != Action::Delete;
        let settled = writes
            .iter()
            .rposition(writes_keys)
            .map_or(0, |last| last + 1);
        let mut undeleted = Vec::new();
        // The first answer is the savepoint's.
        for (place, (write, count)) in writes.iter().zip(counts.into_iter().skip(1)).enumerate() {
            if self.judge(write, count, &mut tally)? == Found::Absent {
                return Ok(Outcome::RowAbsent);
            }
            if count == 0 && place >= settled {
                undeleted.push(write);
            }
        }
        self.require_deleted(statements, &undeleted).await?;
        if hold {
            let mut closing = Pipeline::narrow(self.client);
            self.close(&mut closing).await;
            self.finish(closing).await?;
        }
        Ok(Outcome::Done(tally))
    }

    async fn send<'w>(&self, pipeline: &mut Pipeline<'w>, write: &'w Write<'_, '_>) {
        let (old, new) = (
            std::slice::from_ref(&write.old),
            std::slice::from_ref(&write.new),
        );
        let images = &write.rows.images;
        pipeline.execute(&write.prepared, images, old, new).await;
    }

    async fn finish(&self, pipeline: Pipeline<'_>) -> Result<Vec<u64>, Failure> {
        let counts = pipeline.finish().await;
        counts.map_err(|error| self.fault(&error))
    }

    fn judge(
        &self,
        write: &Write<'_, '_>,
        count: u64,
        tally: &mut Tally,
    ) -> Result<Found, Failure> {
        let missing = self.missing(count, 1)?;
        tally.affected += count;
        if missing == 0 {
            return Ok(Found::Present);
        }
        match write.action {
            // Without a key an absent row is a row with another image, which stays: not what was wanted.
            Action::Delete
                if self.completeness == Completeness::Complete
                    && self.table.row_match == RowMatch::WholeRow =>
            {
                Err(self.diverged())
            }
            Action::Delete => {
                tally.absent_deletes += 1;
                Ok(Found::Present)
            }
            Action::Upsert if self.may_do_nothing() => Ok(Found::Present),
            Action::Upsert => Err(self.not_written()),
            Action::Update | Action::Move if self.completeness != Completeness::Complete => {
                Ok(Found::Absent)
            }
            _ => Err(self.diverged()),
        }
    }

    /// A table without a key has its own judgement: which of equal rows is meant cannot be asked.
    async fn require_deleted(
        &self,
        statements: &mut Statements,
        writes: &[&Write<'_, '_>],
    ) -> Result<(), Failure> {
        if self.table.row_match == RowMatch::WholeRow {
            return Ok(());
        }
        for write in writes {
            let row = std::slice::from_ref(&write.old);
            self.require_absent(statements, &write.rows.images, row)
                .await?;
        }
        Ok(())
    }

    async fn insert_absent(
        &self,
        statements: &mut Statements,
        write: &Write<'_, '_>,
    ) -> Result<u64, Failure> {
        let (mapping, images) = (&write.rows.mapping, &write.rows.images);
        self.insert_whole(statements, mapping, images, &[write.new])
            .await
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Present,
    Absent,
}
