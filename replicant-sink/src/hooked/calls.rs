//! Which hooks does a change call? Those of the actions that the sink runs for it, each with the image it is about.
//!
//! | held as | insert | update | update that changes the key | delete |
//! | --- | --- | --- | --- | --- |
//! | mirror | create, new | create, new | destroy, old; create, new | destroy, old |
//! | history | create, new | close, new; create, new | close, old; create, new | close, old |
//! | log | append, new | append, new | append, new | append, old |
//!
//! An update of a mirror writes the row that a create would, so it runs the create. A truncate has no rows and runs
//! nothing.

use replicant_checkpoint::contract::resource::{
    ActionKind, ActionRef, Origin, ResourceSpec, Shape, Tenancy, TenancyStrategy, TenantSource,
};
use replicant_transport::cell::Cell;
use replicant_transport::change::ChangeKind;

use super::operation::Invocation;
use crate::generation::{Held, RowMatch, SourceNames, Table};
use crate::hooks::{ActionCode, ChangeCall, ChangeRef, Code, ValidationRef};
use crate::plan::{Mapping, Owners};

/// Everything that hooks call and write in one session.
#[derive(Clone, Debug)]
pub(crate) struct Hooks {
    /// Where its changes come from.
    pub(crate) source: SourceNames,
    /// One entry per table of the generation; `None` for a table whose actions call nothing.
    pub(crate) tables: Vec<Option<TableHooks>>,
    /// The tables that hooks alone write.
    pub(crate) auxiliaries: Vec<Auxiliary>,
}

/// A table that hooks alone write.
#[derive(Clone, Debug)]
pub(crate) struct Auxiliary {
    /// The table, as if the source had the same.
    pub(crate) table: Table,
    /// What its own actions call.
    pub(crate) calls: Vec<Calls>,
}

impl Hooks {
    /// Does any change call a hook that touches no database?
    pub(crate) fn any_pure(&self) -> bool {
        self.any(|calls| !calls.touches_database())
    }

    /// Does any change call a hook that touches the database?
    pub(crate) fn any_database(&self) -> bool {
        self.any(Calls::touches_database)
    }

    fn any(&self, is_wanted: fn(&Calls) -> bool) -> bool {
        let mut tables = self.tables.iter().flatten();
        tables.any(|table| table.calls().any(is_wanted))
    }

    /// What the actions of this table call.
    pub(crate) fn of_table(&self, table: usize) -> Option<&TableHooks> {
        self.tables.get(table)?.as_ref()
    }

    /// The auxiliary table of the resource of this path.
    pub(crate) fn auxiliary(&self, resource: &str) -> Option<(usize, &Auxiliary)> {
        let mut auxiliaries = self.auxiliaries.iter().enumerate();
        auxiliaries.find(|(_, one)| one.table.spec.rust_path == resource)
    }

    /// Every action that the hooks of this table may run, those that the actions run included.
    pub(crate) fn reached(&self, table: usize) -> Vec<ActionRef> {
        let own = self.of_table(table).into_iter().flat_map(TableHooks::calls);
        let mut open: Vec<ActionRef> = own.flat_map(Calls::participants).collect();
        let mut reached: Vec<ActionRef> = Vec::new();
        while let Some(action) = open.pop() {
            if reached.contains(&action) {
                continue;
            }
            reached.push(action);
            let auxiliary = self.auxiliary(action.resource);
            let calls = auxiliary.into_iter().flat_map(|(_, one)| &one.calls);
            let run = calls.filter(|calls| calls.action == action.action);
            open.extend(run.flat_map(Calls::participants));
        }
        reached
    }

    /// The number under which statements of an auxiliary table are kept: none that a mapped table has or will have.
    pub(crate) const fn statement_number(auxiliary: usize) -> usize {
        usize::MAX - auxiliary
    }
}

/// What one action calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls {
    /// What the action is called.
    pub(crate) action: &'static str,
    /// Its changes, in order.
    pub(crate) changes: &'static [ChangeRef],
    /// Its validations, after all changes.
    pub(crate) validations: &'static [ValidationRef],
}

impl Calls {
    /// What the action of this name calls, if it calls anything.
    pub(crate) fn of(code: &'static Code, action: &str) -> Option<Self> {
        let found = code.actions.iter().find(|one| one.action == action)?;
        let ActionCode {
            action,
            changes,
            validations,
            ..
        } = *found;
        let calls = !(changes.is_empty() && validations.is_empty());
        calls.then_some(Self {
            action,
            changes,
            validations,
        })
    }

    /// What its hooks may run.
    fn participants(&self) -> impl Iterator<Item = ActionRef> + use<> {
        let changes = self.changes.iter();
        changes.flat_map(|change| change.participants().iter().copied())
    }

    /// Does one of its hooks touch the database? Then all of them run where that one does.
    pub(crate) fn touches_database(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|change| matches!(change.call, ChangeCall::Database { .. }))
    }
}

/// What the actions of one mapped table call.
#[derive(Clone, Debug)]
pub(crate) struct TableHooks {
    /// The action that writes a row, a version or an event.
    written: Option<Calls>,
    /// The action that removes a row or closes a version.
    removed: Option<Calls>,
    /// For each mapped column, may a hook set it?
    settable: Vec<bool>,
}

/// One action that a change runs, and which image it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) calls: Calls,
    pub(crate) invocation: Invocation,
    pub(crate) side: Side,
}

/// Which image of a change an action is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The row as it was.
    Old,
    /// The row as it is.
    New,
}

impl TableHooks {
    /// What the actions of a table call; `None` if nothing.
    pub(crate) fn of(table: &Table, code: &'static Code) -> Option<Self> {
        let spec = table.spec;
        let (written, removed) = run_by_sink(spec);
        let calls = |action: Option<&str>| action.and_then(|action| Calls::of(code, action));
        let (written, removed) = (calls(written), calls(removed));
        if written.is_none() && removed.is_none() {
            return None;
        }
        // A row without a key is found by comparing what the source sent of all its columns.
        let compared = matches!(table.held, Held::Mirror) && table.row_match == RowMatch::WholeRow;
        let settable = table.columns.iter();
        let settable = settable
            .map(|column| !compared && is_value(spec, column.spec.field))
            .collect();
        Some(Self {
            written,
            removed,
            settable,
        })
    }

    /// What its actions call, in no order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Calls> {
        self.written.iter().chain(&self.removed)
    }

    /// Which columns may be set when an action is about this image.
    pub(crate) fn settable(&self, call: &Call, table: &Table) -> &[bool] {
        match (call.side, &table.held) {
            (Side::New, _) if call.invocation != Invocation::CloseCurrent => &self.settable,
            // The event of a delete holds the old row.
            (Side::Old, Held::AppendLog(_)) => &self.settable,
            // What goes away is not written.
            _ => &[],
        }
    }

    /// What a change calls, in order.
    pub(crate) fn of_change(
        &self,
        table: &Table,
        mapping: &Mapping,
        kind: &ChangeKind,
        owners: &Owners,
    ) -> impl Iterator<Item = Call> + use<> {
        let moves = || owners.moved() || moves(table, mapping, kind);
        let call = |calls: &Option<Calls>, invocation, side| {
            calls.map(|calls| Call {
                calls,
                invocation,
                side,
            })
        };
        let written = |invocation, side| call(&self.written, invocation, side);
        let removed = |invocation, side| call(&self.removed, invocation, side);
        use Invocation::{Append, CloseCurrent, ClosePrior, DestroyPrior, Open, Upsert};
        let both = match (&table.held, kind) {
            (_, ChangeKind::Truncate { .. } | ChangeKind::Message { .. }) => [None, None],
            (Held::Mirror, ChangeKind::Insert { .. }) => [None, written(Upsert, Side::New)],
            (Held::Mirror, ChangeKind::Update { .. }) => [
                removed(DestroyPrior, Side::Old).filter(|_| moves()),
                written(Upsert, Side::New),
            ],
            (Held::Mirror, ChangeKind::Delete { .. }) => [removed(DestroyPrior, Side::Old), None],
            (Held::History(_), ChangeKind::Insert { .. }) => [None, written(Open, Side::New)],
            (Held::History(_), ChangeKind::Update { .. }) => [
                match moves() {
                    true => removed(ClosePrior, Side::Old),
                    false => removed(CloseCurrent, Side::New),
                },
                written(Open, Side::New),
            ],
            (Held::History(_), ChangeKind::Delete { .. }) => [removed(ClosePrior, Side::Old), None],
            (Held::AppendLog(_), ChangeKind::Delete { .. }) => [None, written(Append, Side::Old)],
            (Held::AppendLog(_), _) => [None, written(Append, Side::New)],
        };
        both.into_iter().flatten()
    }
}

/// Names of the action by which the sink writes and of the one by which it removes or closes.
fn run_by_sink(spec: &ResourceSpec) -> (Option<&'static str>, Option<&'static str>) {
    let primary = |kind: ActionKind| Some(kind.as_str());
    match spec.shape {
        Shape::Mirror => (primary(ActionKind::Create), primary(ActionKind::Destroy)),
        Shape::History(history) => (primary(ActionKind::Create), Some(history.close_action)),
        Shape::AppendLog(log) => (Some(log.action), None),
        Shape::Auxiliary => (None, None),
    }
}

/// Does a field only carry a value? Keys, tenants, windows, structural and provenance columns decide which row is
/// meant, and an image before a change is what the source had.
fn is_value(spec: &ResourceSpec, field: &str) -> bool {
    let named = |fields: &[&str]| fields.contains(&field);
    let business_key = match spec.shape {
        Shape::History(history) => history.business_key,
        _ => &[],
    };
    let mut identities = spec.identities.iter();
    let in_a_key = named(spec.primary_key)
        || named(business_key)
        || identities.any(|identity| named(identity.keys));
    let column = spec.column(field);
    let origin = column.map(|column| column.origin);
    matches!(origin, Some(Origin::Source(_) | Origin::Action))
        && !in_a_key
        && spec.role_of(field).is_none()
        && !tells_tenant(spec, field)
}

/// May a hook of an auxiliary resource's own action set this field?
pub(super) fn is_settable(spec: &ResourceSpec, field: &str) -> bool {
    is_value(spec, field)
}

/// Do rows belong to tenants by this field?
pub(super) fn tells_tenant(spec: &ResourceSpec, field: &str) -> bool {
    let Tenancy::Tenanted {
        strategy, source, ..
    } = spec.tenancy
    else {
        return false;
    };
    let by_strategy = matches!(strategy, TenancyStrategy::Attribute(holder) if holder == field);
    by_strategy || matches!(source, Some(TenantSource::Attribute(teller)) if teller == field)
}

/// Does an update change the key by which its row is found?
fn moves(table: &Table, mapping: &Mapping, kind: &ChangeKind) -> bool {
    let ChangeKind::Update {
        relation,
        old: Some(old),
        new,
    } = kind
    else {
        return false;
    };
    table.row_match.key().iter().any(|key| {
        let position = mapping.positions.get(key.column).copied().flatten();
        let position = position.unwrap_or(usize::MAX);
        match (old.get(relation, position), new.get(position)) {
            (Some(before), Some(after)) => after != Cell::Unchanged && after != before,
            _ => false,
        }
    })
}
