//! Hooks that only see a row, run once per change and before anything is planned: what they leave behind is what the
//! source seems to have sent.

use std::sync::Arc;

use replicant_transport::change::ChangeKind;
use replicant_transport::position::Watermark;
use replicant_transport::relation::Relation;

use super::calls::{Call, Calls};
use super::guard::{self, Caller};
use super::row::{ChangeRow, Guarded};
use crate::changeset::Changeset;
use crate::error::Error;
use crate::generation::{Generation, Table};
use crate::hooks::ChangeCall;
use crate::plan::{Mapping, Owners, Piece, Resolution, Resolver, relation_of};
use crate::reason::Reason;

/// Runs the pure hooks of one session.
#[derive(Debug)]
pub(crate) struct Stage {
    resolver: Resolver,
    needed: bool,
    /// What had taken effect when the session began. The source may send it again, and nobody asks hooks about it again.
    applied: Option<Watermark>,
}

impl Stage {
    pub(crate) fn new(generation: Arc<Generation>, applied: Option<Watermark>) -> Self {
        Self {
            needed: generation.hooks.any_pure(),
            resolver: Resolver::new(generation),
            applied,
        }
    }

    /// Are there any?
    pub(crate) fn runs_hooks(&self) -> bool {
        self.needed
    }

    /// Runs them for whole transactions. What comes back is the number of the first transaction that a hook refused,
    /// and why: those before it are ready.
    pub(crate) fn prepare_all(&mut self, pieces: &mut [Piece]) -> Option<(usize, Error)> {
        let mut numbered = pieces.iter_mut().enumerate();
        numbered.find_map(|(number, piece)| Some((number, self.prepare(piece).err()?)))
    }

    /// Runs them for one transaction, or a part of one, unless it took effect before.
    ///
    /// # Errors
    /// `hook_failed`, `validation_refused`, `hook_panicked`, `hook_column_protected`, `change_unsupported`.
    pub(crate) fn prepare(&mut self, piece: &mut Piece) -> Result<(), Error> {
        let commit_lsn = piece.commit_lsn;
        let covers = |applied: Watermark| commit_lsn.is_some_and(|at| applied.covers(at));
        if !self.needed || self.applied.is_some_and(covers) {
            return Ok(());
        }
        let generation = Arc::clone(self.resolver.generation());
        let mut seen = LastSeen::default();
        for change in &mut piece.changes {
            let Some(mapping) = seen.look(&mut self.resolver, &change.kind, Calls::is_pure) else {
                continue;
            };
            let (Some(table), Some(hooks)) = (
                generation.tables.get(mapping.table),
                generation.hooks.of_table(mapping.table),
            ) else {
                continue;
            };
            let owners = Owners::of(table, mapping, &change.kind)?;
            for call in hooks.of_change(table, mapping, &change.kind, &owners) {
                if call.calls.touches_database() {
                    continue;
                }
                let caller = Caller {
                    table: &table.source,
                    action: call.calls.action,
                    commit_lsn,
                };
                let settable = hooks.settable(&call, table);
                let image = (&change.kind, call.side);
                let row = ChangeRow::new((table, mapping), image, settable, &owners);
                if let Some(kind) = pure(&call, row, caller)? {
                    require_owners(table, mapping, &kind, &owners, caller)?;
                    change.kind = kind;
                }
            }
        }
        Ok(())
    }
}

/// A row that hooks left is of the tenant that it was of before: a function may read what a hook may set.
///
/// # Errors
/// `hook_column_protected`.
pub(super) fn require_owners(
    table: &Table,
    mapping: &Mapping,
    kind: &ChangeKind,
    owners: &Owners,
    caller: Caller<'_>,
) -> Result<(), Error> {
    if Owners::of(table, mapping, kind)? == *owners {
        return Ok(());
    }
    let fact = format!(
        "the hooks of {} changed what tells the row's tenant",
        caller.action
    );
    let site = caller.site().fact(fact);
    Err(Error::new(Reason::HookColumnProtected, site))
}

impl Calls {
    /// Does it only see rows?
    fn is_pure(&self) -> bool {
        !self.touches_database()
    }
}

/// Runs an action's hooks, none of which touches the database, on a row.
fn pure(
    call: &Call,
    mut row: ChangeRow<'_>,
    caller: Caller<'_>,
) -> Result<Option<ChangeKind>, Error> {
    for change in call.calls.changes {
        let ChangeCall::Pure(hook) = change.call else {
            continue;
        };
        let name = (change.name)();
        guard::call(|| hook(&mut Changeset::new(&mut row)))
            .map_err(|ended| caller.error(Reason::HookFailed, name, ended))?;
        row.require_untouched(name, caller)?;
    }
    for validation in call.calls.validations {
        guard::validate(validation, &Changeset::new(&mut row), caller)?;
    }
    row.changed(caller)
}

/// The relation of the last change and its mapping, if its table calls what is looked for: changes come in runs of one
/// table, so that a table without hooks costs a comparison.
#[derive(Default)]
pub(super) struct LastSeen {
    relation: Option<Arc<Relation>>,
    mapping: Option<Arc<Mapping>>,
}

impl LastSeen {
    /// The mapping of a change whose table calls something wanted.
    pub(super) fn look(
        &mut self,
        resolver: &mut Resolver,
        kind: &ChangeKind,
        is_wanted: fn(&Calls) -> bool,
    ) -> Option<&Arc<Mapping>> {
        let relation = relation_of(kind)?;
        let known = self.relation.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, relation)) {
            self.relation = Some(Arc::clone(relation));
            // What cannot be resolved is told when it is planned.
            let mapping = match resolver.resolve(relation) {
                Ok(Resolution::Mapped(mapping)) => Some(mapping),
                Ok(Resolution::Ignored) | Err(_) => None,
            };
            let hooks = &resolver.generation().hooks;
            self.mapping = mapping.filter(|mapping| {
                let table = hooks.of_table(mapping.table);
                table.is_some_and(|table| table.calls().any(is_wanted))
            });
        }
        self.mapping.as_ref()
    }
}
