//! What must happen in the destination: changes become effects, effects fold per key, folds become set operations.
//!
//! Everything here is pure. A plan borrows the changes it was made from and copies no value. Reading order:
//! `resolve` (which table), `tenants` (whose rows), `effect` (what one change does), then one of three: `fold` (what remains of many, in a
//! mirror), `history` (which versions they open and close), `append` (which events they are); `building` (the batches
//! of one table), `lower` (which sets of rows one statement can write), `ahead` (a plan that waits for its turn).

mod ahead;
mod append;
mod building;
mod effect;
mod fold;
mod history;
#[cfg(test)]
mod history_model;
mod image;
mod lower;
#[cfg(test)]
mod model;
mod moment;
mod resolve;
mod tenants;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use replicant_checkpoint::contract::resource::OnTruncate;
pub use replicant_checkpoint::store::Completeness;
use replicant_transport::change::{Change, ChangeKind, Ordinal};
use replicant_transport::error::Site;
use replicant_transport::position::CommitLsn;
use replicant_transport::relation::Relation;

pub(crate) use ahead::Planned;
pub(crate) use append::{Event, Events};
pub(crate) use effect::{Effect, is_whole};
pub(crate) use fold::Folded;
#[cfg(test)]
pub(crate) use fold::Net;
pub(crate) use history::{Cause, Closing, Version, Versions};
pub(crate) use image::{ColumnSet, Images, Row};
pub(crate) use lower::{
    Operation, Verb, chunks, first_chunks, known_columns, sets_anything, statements,
};
pub(crate) use moment::Moment;
pub(crate) use resolve::{Mapping, Resolution, Resolver, refuse_unmapped_columns};
pub(crate) use tenants::{Owners, Scoped, Tenants, Unseen};
pub(crate) use windows::{Carrier, ClosingSet, VersionSet, Window, closing_sets, version_sets};

use crate::error::Error;
use crate::generation::{Generation, Held, Table};
use crate::reason::Reason;
use building::{Building, Told};

/// One source transaction, or a part of a large one.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// START of its commit record; `None` while the source transaction is still in progress.
    pub commit_lsn: Option<CommitLsn>,
    /// When it committed, by the source's clock.
    pub committed_at: Option<SystemTime>,
    /// The source's transaction id.
    pub xid: Option<u32>,
    /// Its changes, in order.
    pub changes: Vec<Change>,
}

impl Piece {
    /// One change of a piece.
    pub(crate) fn of((piece, change): (&Self, &Change)) -> Self {
        Self {
            changes: vec![change.clone()],
            ..*piece
        }
    }
}

/// A run of changes, by their number counted over all pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    first: u64,
    last: u64,
}

impl Span {
    fn at(number: u64) -> Self {
        Self {
            first: number,
            last: number,
        }
    }

    fn extend(&mut self, number: u64) {
        self.last = number;
    }
}

/// Everything to do, in order.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) steps: Vec<Step<'a>>,
    pub(crate) counts: Counts,
}

/// Source changes by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) inserts: u64,
    pub(crate) updates: u64,
    pub(crate) deletes: u64,
    pub(crate) truncates: u64,
    pub(crate) ignored: u64,
}

/// One part of a plan; nothing moves across its ends.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// Row changes; tables are independent of each other.
    Tables(Vec<Work<'a>>),
    /// Tables emptied as one unit, children first.
    Truncate(Vec<Emptied>),
}

/// What a TRUNCATE on the source does to one destination table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Emptied {
    pub(crate) table: usize,
    pub(crate) how: Emptying,
}

/// How a destination table follows a TRUNCATE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emptying {
    /// Every row is deleted, of a history every version.
    Delete,
    /// Every open version of a history is closed.
    Close(Moment),
}

/// What to do with one table, batch after batch.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) table: usize,
    pub(crate) batches: Vec<Batch<'a>>,
}

/// Changes of one table that are written together.
#[derive(Debug)]
pub(crate) enum Batch<'a> {
    /// Net effects per key, and what writes them.
    Folded {
        folded: Folded<'a>,
        operations: Vec<Operation>,
    },
    /// Every change, in source order.
    Rows(Rows<'a>),
    /// Versions of a history.
    Versions(Versions<'a>),
    /// Versions that a history has already.
    Recorded(Versions<'a>),
    /// Events of an append log.
    Events(Events<'a>),
}

/// Changes in source order.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) images: Images<'a>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) mapping: Arc<Mapping>,
}

impl<'a> Rows<'a> {
    fn new(table: &Table, mapping: Arc<Mapping>) -> Self {
        Self {
            images: Images::new(table.columns.len()),
            effects: Vec::new(),
            mapping,
        }
    }

    fn push(&mut self, table: &Table, scoped: Scoped<'a>) -> Result<(), Error> {
        let effect = effect::effect_of(table, &self.mapping, scoped, &mut self.images)?;
        self.effects.push(effect);
        Ok(())
    }
}

/// Plans the pieces, whose tenants were told before.
///
/// # Errors
/// Why delivery must stop before anything of these pieces is written.
pub(crate) fn plan<'a>(
    resolver: &mut Resolver,
    pieces: &'a [Piece],
    tenants: &'a Tenants,
) -> Result<Plan<'a>, Error> {
    let generation = Arc::clone(resolver.generation());
    let mut planner = Planner {
        generation: &generation,
        tenants,
        open: BTreeMap::new(),
        steps: Vec::new(),
        counts: Counts::default(),
        written: Written::SinceAdmission,
    };
    let mut numbers = 0..;
    for piece in pieces {
        planner.written = Written::of(piece, &generation);
        // The changes end first, so that no number is taken in vain.
        for (change, number) in piece.changes.iter().zip(numbers.by_ref()) {
            planner.change(resolver, piece, number, change)?;
        }
    }
    planner.barrier();
    Ok(Plan {
        steps: planner.steps,
        counts: planner.counts,
    })
}

/// Plans the changes of one table in a span again, in source order and without folding.
///
/// # Errors
/// The same as planning them at first.
pub(crate) fn in_source_order<'a>(
    resolver: &mut Resolver,
    (pieces, tenants): (&'a [Piece], &'a Tenants),
    table: usize,
    span: Span,
) -> Result<Vec<Rows<'a>>, Error> {
    let generation = Arc::clone(resolver.generation());
    let Some(described) = generation.tables.get(table) else {
        return Ok(Vec::new());
    };
    let mut batches: Vec<Rows<'a>> = Vec::new();
    let within = numbered(pieces)
        .skip_while(|(number, _)| *number < span.first)
        .take_while(|(number, _)| *number <= span.last);
    for (number, change) in within {
        let Some(relation) = relation_of(&change.kind) else {
            continue;
        };
        let Resolution::Mapped(mapping) = resolver.resolve(relation)? else {
            continue;
        };
        let scoped = tenants.scoped(number, &change.kind);
        let routed = resolver.route(relation, &mapping, scoped)?;
        for (mapping, scoped) in routed.into_iter().flatten() {
            if mapping.table == table {
                rows_for(&mut batches, described, &mapping).push(described, scoped)?;
            }
        }
    }
    Ok(batches)
}

fn rows_for<'b, 'a>(
    batches: &'b mut Vec<Rows<'a>>,
    table: &Table,
    mapping: &Arc<Mapping>,
) -> &'b mut Rows<'a> {
    let fits = batches
        .last()
        .is_some_and(|last| Arc::ptr_eq(&last.mapping, mapping));
    let last = if fits { batches.pop() } else { None };
    batches.push_mut(last.unwrap_or_else(|| Rows::new(table, Arc::clone(mapping))))
}

fn numbered(pieces: &[Piece]) -> impl Iterator<Item = (u64, &Change)> {
    numbered_with(pieces).map(|(number, _, change)| (number, change))
}

fn numbered_with(pieces: &[Piece]) -> impl Iterator<Item = (u64, &Piece, &Change)> {
    let changes = pieces.iter().flat_map(|piece| {
        let changes = piece.changes.iter();
        changes.map(move |change| (piece, change))
    });
    let numbered = (0..).zip(changes);
    numbered.map(|(number, (piece, change))| (number, piece, change))
}

/// The table of a row change, as described when the row was sent.
pub(crate) fn relation_of(kind: &ChangeKind) -> Option<&Arc<Relation>> {
    match kind {
        ChangeKind::Insert { relation, .. }
        | ChangeKind::Update { relation, .. }
        | ChangeKind::Delete { relation, .. } => Some(relation),
        ChangeKind::Truncate { .. } | ChangeKind::Message { .. } => None,
    }
}

/// When a source transaction was written, compared with the catalog that admission read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Written {
    /// Before it: the shape of its rows may be older than the admitted one.
    BeforeAdmission,
    /// After it, or not known yet: a column that is missing was dropped.
    SinceAdmission,
}

impl Written {
    fn of(piece: &Piece, generation: &Generation) -> Self {
        match piece.commit_lsn {
            Some(at) if generation.is_later_than(at) => Self::BeforeAdmission,
            _ => Self::SinceAdmission,
        }
    }
}

struct Planner<'g, 'a> {
    generation: &'g Generation,
    tenants: &'a Tenants,
    open: BTreeMap<usize, Building<'a>>,
    steps: Vec<Step<'a>>,
    counts: Counts,
    written: Written,
}

impl<'a> Planner<'_, 'a> {
    fn change(
        &mut self,
        resolver: &mut Resolver,
        piece: &Piece,
        number: u64,
        change: &'a Change,
    ) -> Result<(), Error> {
        let kind = &change.kind;
        let relation = match kind {
            ChangeKind::Insert { relation, .. }
            | ChangeKind::Update { relation, .. }
            | ChangeKind::Delete { relation, .. } => relation,
            ChangeKind::Truncate { relations, .. } => {
                return self.truncate(resolver, piece, change.ordinal, relations);
            }
            ChangeKind::Message { .. } => {
                let site = Site::none().fact("a transactional message");
                return Err(Error::new(Reason::ChangeUnsupported, site));
            }
        };
        let Resolution::Mapped(mapping) = resolver.resolve(relation)? else {
            self.counts.ignored += 1;
            return Ok(());
        };
        if let (Some(column), Written::SinceAdmission) = (&mapping.missing, self.written) {
            return Err(Error::new(
                Reason::SchemaChangeDestructive,
                Site::table(&relation.name)
                    .column(column)
                    .fact("the column was dropped or renamed"),
            ));
        }
        match kind {
            ChangeKind::Insert { .. } => self.counts.inserts += 1,
            ChangeKind::Update { .. } => self.counts.updates += 1,
            _ => self.counts.deletes += 1,
        }
        let scoped = self.tenants.scoped(number, kind);
        let routed = resolver.route(relation, &mapping, scoped)?;
        for (mapping, scoped) in routed.into_iter().flatten() {
            let Some(table) = self.generation.tables.get(mapping.table) else {
                return Err(Error::new(
                    Reason::SourceTableUnmapped,
                    Site::table(&relation.name),
                ));
            };
            let building = self.building(mapping.table);
            match table.held {
                Held::Mirror => building.change(table, &mapping, scoped, number)?,
                Held::History(ref history) => {
                    let at = Moment::of(piece, table)?;
                    building.version(table, &mapping, scoped, at, Told::of(history, at))?;
                }
                Held::AppendLog(_) => {
                    let at = Moment::of(piece, table)?;
                    let events = building.events(table, &mapping);
                    events.push(table, scoped, change.ordinal, at)?;
                }
            }
        }
        Ok(())
    }

    fn truncate(
        &mut self,
        resolver: &mut Resolver,
        piece: &Piece,
        first: Ordinal,
        relations: &[Arc<Relation>],
    ) -> Result<(), Error> {
        let mut emptied = Vec::with_capacity(relations.len());
        // Every table of a truncate takes an ordinal of its own.
        for (relation, ordinal) in relations.iter().zip(first.0..) {
            let Resolution::Mapped(mapping) = resolver.resolve(relation)? else {
                self.counts.ignored += 1;
                continue;
            };
            let halt = || Error::new(Reason::TruncateHalt, Site::table(&relation.name));
            let table = self.generation.tables.get(mapping.table);
            let table = table.ok_or_else(halt)?;
            match (table.spec.on_truncate, &table.held) {
                (OnTruncate::Mirror, Held::Mirror) => {
                    emptied.extend(self.emptied(mapping.table, Emptying::Delete));
                }
                (policy @ (OnTruncate::Mirror | OnTruncate::Close), Held::History(history)) => {
                    let at = Moment::of(piece, table)?;
                    if Told::of(history, at) == Told::Before {
                        // The history has it; what follows must not be taken for changes of rows that were there.
                        self.barrier();
                        continue;
                    }
                    let how = match policy {
                        OnTruncate::Close => Emptying::Close(at),
                        _ => Emptying::Delete,
                    };
                    emptied.extend(self.emptied(mapping.table, how));
                }
                (OnTruncate::Append, Held::AppendLog(_)) => {
                    let at = Moment::of(piece, table)?;
                    self.building(mapping.table)
                        .events(table, &mapping)
                        .push_truncate(table, at, ordinal)?;
                }
                _ => return Err(halt()),
            }
            self.counts.truncates += 1;
        }
        if !emptied.is_empty() {
            self.barrier();
            // The generation lists parents before children.
            emptied.sort_unstable_by_key(|emptied| std::cmp::Reverse(emptied.table));
            emptied.dedup();
            self.steps.push(Step::Truncate(emptied));
        }
        Ok(())
    }

    /// A truncate empties the source's table of every tenant's rows, and so what holds them.
    fn emptied(&self, table: usize, how: Emptying) -> impl Iterator<Item = Emptied> + use<> {
        let tables = self.generation.written_tables(table);
        tables.into_iter().map(move |table| Emptied { table, how })
    }

    fn barrier(&mut self) {
        if !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            let finished = open.into_iter().filter_map(|(index, building)| {
                let table = self.generation.tables.get(index)?;
                Some(building.finish(table))
            });
            self.steps.push(Step::Tables(finished.collect()));
        }
    }

    fn building(&mut self, table: usize) -> &mut Building<'a> {
        self.open
            .entry(table)
            .or_insert_with(|| Building::new(table))
    }
}
