//! How versions of a history are written: the open ones are closed, then the new ones inserted, under a savepoint.
//!
//! 1. `Sets`: nothing that is inserted exists.
//! 2. `Upserts`: a transaction that is written in several batches may find versions that it opened before.
//!
//! A conflict rolls back to the savepoint and climbs; the last rung's conflict stops. Transactions that the history
//! has from an earlier life of its checkpoint are left out, so that a window once written never changes.

use std::sync::Arc;

use replicant_checkpoint::contract::resource::Role;
use tokio_postgres::Client;

use super::Rung;
use super::copy::{COPY_ROWS_MIN, CopyFormat, copy_format};
use super::fault::Failure;
use super::filled::{Filled, FilledPrepared, Slot, copy_filled, copy_slots};
use super::filled_sql::{Exists, FilledAction, close_all, roles_of};
use super::flush::{Flush, Tally};
use super::memory::Memory;
use super::pipeline::Pipeline;
use super::stamp::Stamp;
use super::statements::Statements;
use crate::generation::{History, Table};
use crate::plan::{
    Cause, Closing, ClosingSet, Completeness, Images, Moment, Row, Version, VersionSet, Versions,
    closing_sets, statements as cut, version_sets,
};
use crate::reason::Reason;

/// What a batch of versions is written from.
pub(super) struct Lowered<'p, 'a> {
    versions: &'p Versions<'a>,
    closings: Vec<ClosingSet>,
    sets: Vec<VersionSet>,
}

impl<'p, 'a> Lowered<'p, 'a> {
    pub(super) fn new(table: &Table, versions: &'p Versions<'a>) -> Self {
        Self {
            versions,
            closings: closing_sets(table, versions),
            sets: version_sets(table, versions),
        }
    }
}

/// The versions to insert, over their images.
pub(super) struct Openings<'p, 'a>(&'p Images<'a>);

impl Openings<'_, '_> {
    /// The same over other images.
    pub(super) fn over<'p, 'a>(&self, images: &'p Images<'a>) -> Openings<'p, 'a> {
        Openings(images)
    }
}

impl Filled for Openings<'_, '_> {
    type Item = Version;

    fn row(&self, version: &Version) -> Row {
        version.row
    }

    fn carrier(&self, version: &Version) -> Option<Row> {
        version.carry.map(|carry| carry.key)
    }

    fn images(&self) -> &Images<'_> {
        self.0
    }

    fn stamp<'s>(&'s self, version: &'s Version, slot: Slot) -> Stamp<'s> {
        match slot {
            Slot::CarrierLsn => version
                .carry
                .map_or(Stamp::Null, |carry| Stamp::Number(carry.lsn)),
            Slot::Role(Role::ValidFromLsn) => Stamp::Number(version.from.lsn),
            Slot::Role(Role::ValidToLsn) => {
                version.to.map_or(Stamp::Null, |to| Stamp::Number(to.lsn))
            }
            Slot::Role(Role::ValidFrom) => time(Some(version.from)),
            Slot::Role(Role::ValidTo) => time(version.to),
            Slot::Role(Role::Current) => Stamp::Flag(version.to.is_none()),
            Slot::Own(_) | Slot::Carrier(_) | Slot::Reach | Slot::Role(_) => Stamp::Null,
        }
    }
}

struct Closings<'p, 'a>(&'p Versions<'a>);

impl Filled for Closings<'_, '_> {
    type Item = Closing;

    fn row(&self, closing: &Closing) -> Row {
        closing.key
    }

    fn carrier(&self, _: &Closing) -> Option<Row> {
        None
    }

    fn images(&self) -> &Images<'_> {
        &self.0.images
    }

    fn stamp<'s>(&'s self, closing: &'s Closing, slot: Slot) -> Stamp<'s> {
        let at = closing.at.lsn;
        match slot {
            Slot::Role(Role::ValidToLsn) => Stamp::Number(at),
            Slot::Role(Role::ValidTo) => time(Some(closing.at)),
            Slot::Reach if closing.cause.is_inclusive() => Stamp::Number(at),
            Slot::Reach => Stamp::Number(at.saturating_sub(1)),
            Slot::Own(_) | Slot::Carrier(_) | Slot::CarrierLsn | Slot::Role(_) => Stamp::Null,
        }
    }
}

fn time(moment: Option<Moment>) -> Stamp<'static> {
    moment
        .and_then(|moment| moment.micros)
        .map_or(Stamp::Null, Stamp::Instant)
}

/// One set of versions and how it is written.
struct Write<'p> {
    set: &'p VersionSet,
    prepared: Arc<FilledPrepared>,
    copy: Option<CopyFormat>,
}

impl Flush<'_> {
    /// Writes versions, trying the other way after a conflict.
    pub(super) async fn climb_versions(
        &self,
        statements: &mut Statements,
        memory: Option<&mut Memory>,
        history: &History,
        versions: &Versions<'_>,
    ) -> Result<(Tally, Rung), Failure> {
        let lowered = Lowered::new(self.table, versions);
        let mut rung = memory.as_ref().map_or(Rung::Sets, |memory| memory.start());
        loop {
            let written = self.versions(statements, history, &lowered, rung).await;
            match written {
                Ok(tally) => {
                    if let Some(memory) = memory {
                        memory.written(rung);
                    }
                    return Ok((tally, rung));
                }
                Err(failure) if failure.is_conflict() => {
                    self.roll_back().await?;
                    if rung != Rung::Sets {
                        return Err(failure);
                    }
                    rung = Rung::Upserts;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    async fn versions(
        &self,
        statements: &mut Statements,
        history: &History,
        lowered: &Lowered<'_, '_>,
        rung: Rung,
    ) -> Result<Tally, Failure> {
        let closings = Closings(lowered.versions);
        let openings = Openings(&lowered.versions.images);
        let exists = match rung {
            Rung::Sets => Exists::Conflict,
            _ => Exists::GoesOn,
        };
        if exists == Exists::GoesOn && self.completeness == Completeness::Complete {
            self.refuse_lost(statements, lowered, &closings).await?;
        }
        let close = self.filled(statements, FilledAction::Close, None).await?;
        let writes = self.writes(statements, lowered, exists).await?;
        let mut pipeline = Pipeline::wide(self.client);
        self.open(&mut pipeline).await;
        let mut closed = Vec::new();
        for set in &lowered.closings {
            // Normally nothing has the key of a new row; if something does, its open version is in the way.
            if set.cause == Cause::Appeared && exists == Exists::Conflict {
                continue;
            }
            let bytes = |closing: &Closing| lowered.versions.images.bytes(closing.key);
            for chunk in cut(&set.closings, bytes) {
                closed.push((set.cause, chunk));
                pipeline.execute_filled(&close, &closings, chunk).await;
            }
        }
        let mut tally = Tally::default();
        let mut inserted = Vec::new();
        let roles: Vec<_> = roles_of(history)
            .into_iter()
            .map(|(role, _)| role)
            .collect();
        for write in &writes {
            if let Some(format) = write.copy {
                let slots = copy_slots(self.table, &write.set.columns, &roles);
                if !pipeline.stands().await {
                    break;
                }
                let copied = copy_filled(
                    self.client,
                    &write.prepared.statement,
                    self.table,
                    (&openings, &write.set.versions),
                    (&slots, format),
                )
                .await;
                let count = match copied {
                    Ok(count) => count,
                    Err(failure) => return Err(failure),
                };
                if self.missing(count, write.set.versions.len())? > 0 {
                    return Err(self.diverged());
                }
                tally.affected += count;
                continue;
            }
            let bytes = |version: &Version| lowered.versions.images.bytes(version.row);
            for chunk in cut(&write.set.versions, bytes) {
                inserted.push(chunk.len());
                pipeline
                    .execute_filled(&write.prepared, &openings, chunk)
                    .await;
            }
        }
        self.close(&mut pipeline).await;
        let counts = pipeline.finish().await;
        let counts = counts.map_err(|error| self.fault(&error))?;
        // The first answer is the savepoint's.
        let mut counts = counts.into_iter().skip(1);
        let mut unclosed = Vec::new();
        for ((cause, chunk), count) in closed.into_iter().zip(counts.by_ref()) {
            self.judge_closed(cause, chunk.len(), count, exists, &mut tally)?;
            if cause == Cause::Deleted && self.missing(count, chunk.len())? > 0 {
                unclosed.push(chunk);
            }
        }
        for (planned, count) in inserted.into_iter().zip(counts) {
            if self.missing(count, planned)? > 0 {
                return Err(self.nothing_to_carry());
            }
            tally.affected += count;
        }
        for write in &writes {
            self.reseal(statements, &openings, write.set).await?;
        }
        for chunk in unclosed {
            self.require_closed(statements, &closings, chunk).await?;
        }
        Ok(tally)
    }

    /// The end of a row that was never there is nothing to write; one that a trigger or a rule vetoed is still open.
    async fn require_closed(
        &self,
        statements: &mut Statements,
        closings: &Closings<'_, '_>,
        chunk: &[Closing],
    ) -> Result<(), Failure> {
        let unclosed = self
            .filled(statements, FilledAction::Unclosed, None)
            .await?;
        let mut answers = self.filled_answers(&unclosed, closings, chunk).await?;
        if self.next(&mut answers).await?.is_none() {
            return Ok(());
        }
        let fact = "the version of a row that was deleted is still open";
        Err(self.stop(Reason::DestinationDiverged, fact))
    }

    /// Stops when a version that must be closed was never there.
    async fn refuse_lost(
        &self,
        statements: &mut Statements,
        lowered: &Lowered<'_, '_>,
        closings: &Closings<'_, '_>,
    ) -> Result<(), Failure> {
        let lost = self.filled(statements, FilledAction::Lost, None).await?;
        for set in &lowered.closings {
            if !matches!(set.cause, Cause::Replaced | Cause::Left) {
                continue;
            }
            let bytes = |closing: &Closing| lowered.versions.images.bytes(closing.key);
            for chunk in cut(&set.closings, bytes) {
                let mut answers = self.filled_answers(&lost, closings, chunk).await?;
                if self.next(&mut answers).await?.is_some() {
                    return Err(self.diverged());
                }
            }
        }
        Ok(())
    }

    /// Looks for a trace of versions that the history is said to have. Without any, its windows are another source's,
    /// and leaving them out would lose them.
    pub(super) async fn require_recorded(
        &self,
        statements: &mut Statements,
        versions: &Versions<'_>,
    ) -> Result<(), Failure> {
        let recorded = self
            .filled(statements, FilledAction::Recorded, None)
            .await?;
        let openings = Openings(&versions.images);
        let bytes = |version: &Version| versions.images.bytes(version.row);
        for chunk in cut(&versions.versions, bytes) {
            let mut answers = self.filled_answers(&recorded, &openings, chunk).await?;
            if self.next(&mut answers).await?.is_some() {
                return Ok(());
            }
        }
        if versions.versions.is_empty() {
            return Ok(());
        }
        let fact = "the history has later versions, and none of this transaction";
        Err(self.stop(Reason::DestinationDiverged, fact))
    }

    async fn writes<'p>(
        &self,
        statements: &mut Statements,
        lowered: &'p Lowered<'_, '_>,
        exists: Exists,
    ) -> Result<Vec<Write<'p>>, Failure> {
        let mut writes = Vec::with_capacity(lowered.sets.len());
        for set in &lowered.sets {
            let many = set.versions.len() >= COPY_ROWS_MIN && set.carried.is_empty();
            let copy = match exists {
                Exists::Conflict if many => copy_format(self.table, &set.columns),
                Exists::Conflict | Exists::GoesOn => None,
            };
            let action = match copy {
                Some(format) => FilledAction::CopyVersions(set.window, format),
                None => FilledAction::Version {
                    window: set.window,
                    carried: set.carried.clone(),
                    carrier: set.carrier,
                    exists,
                },
            };
            let prepared = self.filled(statements, action, Some(&set.columns)).await?;
            writes.push(Write {
                set,
                prepared,
                copy,
            });
        }
        Ok(writes)
    }

    fn judge_closed(
        &self,
        cause: Cause,
        planned: usize,
        count: u64,
        exists: Exists,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let complete = self.completeness == Completeness::Complete;
        let missing = self.missing(count, planned)?;
        tally.affected += count;
        match cause {
            // Two rows of the source have one key until a deferred constraint is checked; which of their versions
            // ends next cannot be told.
            Cause::Appeared if complete && count > 0 => {
                let fact = "two rows of the source have one key for a while";
                return Err(self.stop(Reason::DestinationUniqueConflict, fact));
            }
            Cause::Appeared => {}
            Cause::Deleted => tally.absent_deletes += missing,
            // It was looked for before.
            Cause::Replaced | Cause::Left if exists == Exists::GoesOn => {}
            Cause::Replaced | Cause::Left if complete && missing > 0 => {
                return Err(self.diverged());
            }
            Cause::Replaced | Cause::Left => tally.absent_updates += missing,
        }
        Ok(())
    }

    fn nothing_to_carry(&self) -> Failure {
        match self.completeness {
            Completeness::Complete => self.diverged(),
            Completeness::Filling | Completeness::Open => self.stop(
                Reason::RowIncomplete,
                "an update has unknown values, and no version before it is stored",
            ),
        }
    }
}

/// Closes every open version of a table.
pub(super) async fn close_every(
    client: &Client,
    table: &Table,
    history: &History,
    at: Moment,
) -> Result<u64, Failure> {
    let statement = close_all(table, history);
    let micros = Instant(at.micros);
    let mut parameters: Vec<(&(dyn postgres_types::ToSql + Sync), postgres_types::Type)> =
        vec![(&at.lsn, postgres_types::Type::INT8)];
    if history.to_time.is_some() {
        parameters.push((&micros, postgres_types::Type::TIMESTAMPTZ));
    }
    let done = client.execute_typed(&statement, &parameters).await;
    done.map_err(|error| Failure::of(&error, Some(table)))
}

/// A `timestamptz`, or NULL.
#[derive(Debug)]
struct Instant(Option<i64>);

impl postgres_types::ToSql for Instant {
    fn to_sql(
        &self,
        _ty: &postgres_types::Type,
        out: &mut bytes::BytesMut,
    ) -> Result<postgres_types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let Some(micros) = self.0 else {
            return Ok(postgres_types::IsNull::Yes);
        };
        bytes::BufMut::put_i64(out, micros);
        Ok(postgres_types::IsNull::No)
    }

    fn accepts(_ty: &postgres_types::Type) -> bool {
        true
    }

    postgres_types::to_sql_checked!();
}
