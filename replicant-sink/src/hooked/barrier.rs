//! Hooks that touch the database: each is a full barrier. Everything before its change is written when it runs, and
//! nothing after it is.
//!
//! Pieces are cut before every change that calls one. The change itself, as the hook left it, begins the next part, so
//! that it is written before anything else of that part is looked at by the next hook.

use std::sync::Arc;

use replicant_transport::change::Change;
use replicant_transport::error::Site;
use tokio_postgres::Client;

use super::calls::{Calls, Side};
use super::guard::Caller;
use super::operation::Operation;
use super::row::ChangeRow;
use super::session::Session;
use super::stage::{LastSeen, require_owners};
use crate::apply::{Failure, Statements};
use crate::delivery::failpoint::{Step, pass};
use crate::error::Error;
use crate::generation::{Generation, Held};
use crate::plan::{Mapping, Owners, Piece, Resolver};
use crate::reason::Reason;

/// A change that calls a database hook: number of its piece, and its own in that piece.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    piece: usize,
    change: usize,
    mapping: Arc<Mapping>,
}

/// Every such change of the pieces.
pub(crate) fn barriers(resolver: &mut Resolver, pieces: &[Piece]) -> Vec<Barrier> {
    let generation = Arc::clone(resolver.generation());
    if !generation.hooks.any_database() {
        return Vec::new();
    }
    let mut seen = LastSeen::default();
    let mut barriers = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        for (change, found) in piece.changes.iter().enumerate() {
            let mapping = seen.look(resolver, &found.kind, Calls::touches_database);
            let Some(mapping) = mapping else { continue };
            if calls_database(&generation, mapping, piece, found) {
                barriers.push(Barrier {
                    piece: number,
                    change,
                    mapping: Arc::clone(mapping),
                });
            }
        }
    }
    barriers
}

fn calls_database(
    generation: &Generation,
    mapping: &Mapping,
    piece: &Piece,
    change: &Change,
) -> bool {
    let table = generation.tables.get(mapping.table);
    let hooks = generation.hooks.of_table(mapping.table);
    let (Some(table), Some(hooks)) = (table, hooks) else {
        return false;
    };
    // What a history has from an earlier life of its checkpoint, its hooks did then.
    let lsn = piece.commit_lsn.and_then(|at| at.lsn().to_bigint());
    if let (Held::History(history), Some(lsn)) = (&table.held, lsn)
        && history.has(lsn)
    {
        return false;
    }
    // A row of nobody stops when it is planned, before any hook sees it.
    let owners = Owners::of(table, mapping, &change.kind).unwrap_or_default();
    let mut calls = hooks.of_change(table, mapping, &change.kind, &owners);
    calls.any(|call| call.calls.touches_database())
}

/// Pieces cut at barriers.
pub(crate) struct Cut<'p> {
    pieces: &'p [Piece],
    /// Where the next part begins.
    piece: usize,
    change: usize,
    /// The change it begins with, as a hook left it.
    head: Option<Change>,
}

impl<'p> Cut<'p> {
    pub(crate) fn new(pieces: &'p [Piece]) -> Self {
        Self {
            pieces,
            piece: 0,
            change: 0,
            head: None,
        }
    }

    /// Everything up to a barrier.
    pub(crate) fn until(&mut self, barrier: &Barrier) -> Vec<Piece> {
        let part = self.part(barrier.piece, barrier.change);
        (self.piece, self.change) = (barrier.piece, barrier.change);
        part
    }

    /// The piece and the change of a barrier.
    pub(crate) fn at(&self, barrier: &Barrier) -> Option<(&'p Piece, &'p Change)> {
        let piece = self.pieces.get(barrier.piece)?;
        Some((piece, piece.changes.get(barrier.change)?))
    }

    /// The next part begins with the change of the barrier, as it is now.
    pub(crate) fn begin_with(&mut self, change: Change) {
        self.head = Some(change);
        self.change += 1;
    }

    /// Everything behind the last barrier.
    pub(crate) fn rest(&mut self) -> Vec<Piece> {
        self.part(self.pieces.len(), 0)
    }

    fn part(&mut self, piece: usize, change: usize) -> Vec<Piece> {
        let mut part = Vec::new();
        let numbered = self.pieces.iter().enumerate();
        for (number, whole) in numbered
            .skip(self.piece)
            .take_while(|(one, _)| *one <= piece)
        {
            let from = if number == self.piece { self.change } else { 0 };
            let to = if number == piece {
                change
            } else {
                whole.changes.len()
            };
            let changes = whole.changes.get(from..to).unwrap_or_default();
            let head = self.head.take().into_iter();
            let changes: Vec<Change> = head.chain(changes.iter().cloned()).collect();
            if !changes.is_empty() {
                part.push(Piece {
                    changes,
                    commit_lsn: whole.commit_lsn,
                    committed_at: whole.committed_at,
                    xid: whole.xid,
                });
            }
        }
        part
    }
}

/// The tables of tenants that the hooks of this change may look at.
pub(crate) fn tables_read(generation: &Generation, barrier: &Barrier) -> Vec<usize> {
    let reached = generation.hooks.reached(barrier.mapping.table);
    let declared = generation.by_source.values().copied();
    declared
        .filter(|index| {
            generation.tables.get(*index).is_some_and(|table| {
                let path = table.spec.rust_path;
                table.stands_for_many() && reached.iter().any(|action| action.resource == path)
            })
        })
        .collect()
}

/// Whose the rows of a barrier's change are: the tables that its hooks may look at are those of its tenants.
///
/// # Errors
/// `tenant_required`, `tenant_resolution_failed`.
pub(crate) fn owners(
    generation: &Generation,
    barrier: &Barrier,
    change: &Change,
) -> Result<Owners, Error> {
    let table = generation.tables.get(barrier.mapping.table);
    table.map_or_else(
        || Ok(Owners::default()),
        |table| Owners::of(table, &barrier.mapping, &change.kind),
    )
}

/// Runs the database hooks of a barrier's change, and returns the change as they left it.
///
/// # Errors
/// Why the delivery must be rolled back.
pub(crate) async fn run(
    client: &Client,
    statements: &mut Statements,
    generation: &Generation,
    barrier: &Barrier,
    (piece, change): (&Piece, &Change),
) -> Result<Change, Failure> {
    let hooks = &generation.hooks;
    let mut change = change.clone();
    let (Some(table), Some(of_table)) = (
        generation.tables.get(barrier.mapping.table),
        hooks.of_table(barrier.mapping.table),
    ) else {
        return Ok(change);
    };
    let commit_lsn = piece.commit_lsn.ok_or_else(|| {
        let fact = "a hook's action needs the commit position of its transaction";
        let site = Site::table(&table.source).fact(fact);
        Error::new(Reason::ChangeUnsupported, site)
    })?;
    let mapping = &barrier.mapping;
    let owners = Owners::of(table, mapping, &change.kind)?;
    for call in of_table.of_change(table, mapping, &change.kind.clone(), &owners) {
        if !call.calls.touches_database() {
            continue;
        }
        let operation = Operation {
            source: &hooks.source,
            commit_lsn,
            ordinal: change.ordinal.0,
            invocation: call.invocation,
        };
        let caller = Caller {
            table: &table.source,
            action: call.calls.action,
            commit_lsn: Some(commit_lsn),
        };
        let settable = of_table.settable(&call, table);
        let image = (&change.kind, call.side);
        let tenant = owners.tenant(call.side == Side::New);
        let mut row = ChangeRow::new((table, mapping), image, settable, &owners);
        let mut session = Session::new(client, generation, statements, operation, tenant.cloned());
        session.call_all(&call.calls, &mut row, caller).await?;
        if let Some(kind) = row.changed(caller)? {
            require_owners(table, mapping, &kind, &owners, caller)?;
            change.kind = kind;
        }
    }
    pass(Step::HookRan);
    Ok(change)
}
