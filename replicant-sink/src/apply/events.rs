//! How events are appended: by COPY, or one statement that leaves events alone that are there already.
//!
//! An event is there already only when a transaction is delivered again although its checkpoint was lost: below the
//! watermark nothing is delivered. What is stored is never changed; how often that happened is counted.

use replicant_checkpoint::contract::resource::Role;

use super::Rung;
use super::copy::{COPY_ROWS_MIN, CopyFormat, copy_format};
use super::fault::Failure;
use super::filled::{Filled, Slot, copy_filled, copy_slots};
use super::filled_sql::FilledAction;
use super::flush::{Flush, Tally};
use super::memory::Memory;
use super::pipeline::Pipeline;
use super::stamp::Stamp;
use super::statements::Statements;
use crate::generation::{AppendLog, Table};
use crate::plan::{ColumnSet, Event, Events, Images, Row, known_columns, statements as cut};

/// How an event got here.
const STREAM: &str = "stream";

struct Recorded<'p, 'a> {
    table: &'p Table,
    log: &'p AppendLog,
    events: &'p Events<'a>,
}

impl Filled for Recorded<'_, '_> {
    type Item = Event;

    fn row(&self, event: &Event) -> Row {
        event.row
    }

    fn carrier(&self, _: &Event) -> Option<Row> {
        None
    }

    fn images(&self) -> &Images<'_> {
        &self.events.images
    }

    fn stamp<'s>(&'s self, event: &'s Event, slot: Slot) -> Stamp<'s> {
        let Slot::Role(role) = slot else {
            return Stamp::Null;
        };
        match role {
            Role::SourceSystem => Stamp::Text(&self.log.source.system),
            Role::SourceDatabase => Stamp::Text(&self.log.source.database),
            Role::Slot => Stamp::Text(&self.log.source.slot),
            Role::CommitLsn => Stamp::Number(event.at.lsn),
            Role::Ordinal => Stamp::Number(event.ordinal),
            Role::Operation => Stamp::Text(event.happened.as_str()),
            Role::Origin => Stamp::Text(STREAM),
            Role::Unchanged => Stamp::Names(
                self.table
                    .columns
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| event.unchanged.contains(*index))
                    .map(|(_, column)| column.target.as_str())
                    .collect(),
            ),
            Role::CommitTimestamp => event.at.micros.map_or(Stamp::Null, Stamp::Instant),
            Role::Xid => event
                .at
                .xid
                .map_or(Stamp::Null, |xid| Stamp::Number(i64::from(xid))),
            _ => Stamp::Null,
        }
    }
}

impl Flush<'_> {
    /// Appends events.
    pub(super) async fn append(
        &self,
        statements: &mut Statements,
        mut memory: Option<&mut Memory>,
        log: &AppendLog,
        events: &Events<'_>,
    ) -> Result<(Tally, Rung), Failure> {
        let recorded = Recorded {
            table: self.table,
            log,
            events,
        };
        let mut tally = Tally::default();
        let mut highest = Rung::Sets;
        for run in runs(events) {
            let rung = memory.as_ref().map_or(Rung::Sets, |memory| memory.start());
            let many = run.events.len() >= COPY_ROWS_MIN && rung == Rung::Sets;
            let format = copy_format(self.table, &run.columns).filter(|_| many);
            let written = match format {
                None => None,
                Some(format) => {
                    self.copy_events(statements, &recorded, &run, format)
                        .await?
                }
            };
            let used = match written {
                Some(count) => {
                    tally.affected += count;
                    rung
                }
                None => {
                    let (affected, repeated) =
                        self.insert_events(statements, &recorded, &run).await?;
                    tally.affected += affected;
                    tally.repeated_events += repeated;
                    if many || repeated > 0 {
                        Rung::Upserts
                    } else {
                        rung
                    }
                }
            };
            if let Some(memory) = &mut memory {
                memory.written(used);
            }
            highest = highest.max(used);
        }
        Ok((tally, highest))
    }

    /// Copies events in; `None` when one of them is there already.
    async fn copy_events(
        &self,
        statements: &mut Statements,
        recorded: &Recorded<'_, '_>,
        run: &Run<'_>,
        format: CopyFormat,
    ) -> Result<Option<u64>, Failure> {
        let action = FilledAction::CopyEvents(format);
        let prepared = self.filled(statements, action, Some(&run.columns)).await?;
        let roles: Vec<Role> = recorded.log.stamps.iter().map(|stamp| stamp.role).collect();
        let slots = copy_slots(self.table, &run.columns, &roles);
        let mut pipeline = Pipeline::wide(self.client);
        self.open(&mut pipeline).await;
        if !pipeline.stands().await {
            let done = pipeline.finish().await;
            done.map_err(|error| self.fault(&error))?;
            return Ok(None);
        }
        let copied = copy_filled(
            self.client,
            &prepared.statement,
            self.table,
            (recorded, run.events),
            (&slots, format),
        )
        .await;
        match copied {
            Ok(count) => {
                self.close(&mut pipeline).await;
                let done = pipeline.finish().await;
                done.map_err(|error| self.fault(&error))?;
                if self.missing(count, run.events.len())? > 0 {
                    return Err(self.diverged());
                }
                Ok(Some(count))
            }
            Err(failure) => {
                if !failure.is_conflict() {
                    return Err(failure);
                }
                self.roll_back().await?;
                Ok(None)
            }
        }
    }

    /// Inserts what is not there; answers how many were inserted and how many were there.
    async fn insert_events(
        &self,
        statements: &mut Statements,
        recorded: &Recorded<'_, '_>,
        run: &Run<'_>,
    ) -> Result<(u64, u64), Failure> {
        let prepared = self
            .filled(statements, FilledAction::Events, Some(&run.columns))
            .await?;
        let mut pipeline = Pipeline::wide(self.client);
        let mut planned = Vec::new();
        let bytes = |event: &Event| recorded.events.images.bytes(event.row);
        for chunk in cut(run.events, bytes) {
            planned.push(chunk.len());
            pipeline.execute_filled(&prepared, recorded, chunk).await;
        }
        let counts = pipeline.finish().await;
        let counts = counts.map_err(|error| self.fault(&error))?;
        let mut answer = (0, 0);
        for (planned, count) in planned.into_iter().zip(counts) {
            answer.0 += count;
            answer.1 += self.missing(count, planned)?;
        }
        Ok(answer)
    }
}

/// Events in a row that have the same columns.
struct Run<'p> {
    columns: ColumnSet,
    events: &'p [Event],
}

fn runs<'p>(events: &'p Events<'_>) -> Vec<Run<'p>> {
    let columns_of = |event: &Event| {
        let mut columns = ColumnSet::default();
        known_columns(&events.images, event.row, &mut columns);
        columns
    };
    let mut runs = Vec::new();
    let mut rest = events.events.as_slice();
    while let Some(first) = rest.first() {
        let columns = columns_of(first);
        let same = rest
            .iter()
            .position(|event| columns_of(event) != columns)
            .unwrap_or(rest.len());
        let (run, tail) = rest.split_at(same);
        rest = tail;
        runs.push(Run {
            columns,
            events: run,
        });
    }
    runs
}
