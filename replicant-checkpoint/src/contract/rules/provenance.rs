//! Can nobody forge what a snapshot has seen? One private action marks rows, one retires them, and nothing else
//! reaches the two fields.

use super::actions::find_action;
use super::list::Rule;
use super::violation::{Part, Violation};
use super::wording::meant;
use crate::contract::action::{ActionKind, Marking};
use crate::contract::column::Visibility;
use crate::contract::declared::{DeclaredAction, DeclaredResource, DeclaredStrategy, Written};
use crate::contract::role::RoleOf;
use crate::contract::tenancy::TenancyReach;

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    elsewhere(declared, found);
    // A log has its own rule against provenance, and nothing more to say.
    if !declared.has(RoleOf::Provenance) || declared.has(RoleOf::AppendLog) {
        return;
    }
    public(declared, found);
    mark(declared, found);
    retire(declared, found);
    scopes(declared, found);
}

// replica_fingerprint: Option<Vec<u8>>, without #[replicant(private)]
fn public(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, column) in declared.columns.iter().enumerate() {
        let role = declared.role_of(&column.field);
        if role.is_some_and(|role| role.of() == RoleOf::Provenance)
            && column.visibility == Visibility::Public
        {
            found.push(Violation::new(
                Rule::ProvenancePublic,
                [Part::Field(index)],
                format!("`{}` could be written by any action", column.field),
            ));
        }
    }
}

// update(touch_up, mark_seen), or mark_seen without snapshot_provenance
fn elsewhere(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let opted_in = declared.provenance.opted_in == Written::Yes;
    for (index, action) in declared.actions.iter().flatten().enumerate() {
        let is_the_one = opted_in && action.called() == declared.mark_action();
        if action.marking == Marking::MarkSeen && !is_the_one {
            found.push(Violation::new(
                Rule::MarkSeenElsewhere,
                [Part::ActionMarking(index)],
                format!(
                    "`{}` would mark rows as seen by a snapshot",
                    action.called()
                ),
            ));
        }
    }
}

// actions(update(replicant_mark_seen))
fn mark(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(actions) = &declared.actions else {
        return;
    };
    let name = declared.mark_action();
    let written = declared.provenance.mark_action.is_some();
    let part = if written {
        Part::MarkAction
    } else {
        Part::Provenance
    };
    let Some((index, action)) = find_action(actions, ActionKind::Update, name) else {
        found.push(missing(
            Rule::MarkActionMissing,
            part,
            actions,
            ActionKind::Update,
            name,
        ));
        return;
    };
    if action.marking == Marking::Unmarked {
        found.push(Violation::new(
            Rule::MarkActionUnmarked,
            [Part::Action(index)],
            format!("`{name}` is to mark rows and does not say `mark_seen`"),
        ));
    }
    found.extend(open(index, action));
}

// actions(update(replicant_retire_unseen, private)), on a mirror
fn retire(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(actions) = &declared.actions else {
        return;
    };
    let name = declared.retire_action();
    let written = declared.provenance.retire_action.is_some();
    let part = if written {
        Part::RetireAction
    } else {
        Part::Provenance
    };
    let kind = if declared.has(RoleOf::History) {
        ActionKind::Update
    } else {
        ActionKind::Destroy
    };
    match find_action(actions, kind, name) {
        None => found.push(missing(
            Rule::RetireActionMissing,
            part,
            actions,
            kind,
            name,
        )),
        Some((index, action)) => found.extend(open(index, action)),
    }
}

fn missing(
    rule: Rule,
    part: Part,
    actions: &[DeclaredAction],
    kind: ActionKind,
    name: &str,
) -> Violation {
    let word = kind.as_str();
    let named = actions
        .iter()
        .filter(|action| action.kind == kind)
        .map(DeclaredAction::called);
    Violation::new(
        rule,
        [part],
        format!("no {word} is called `{name}`; {}", meant(name, named, word)),
    )
}

fn open(index: usize, action: &DeclaredAction) -> Option<Violation> {
    (action.visibility == Visibility::Public).then(|| {
        Violation::new(
            Rule::SnapshotActionPublic,
            [Part::ActionName(index)],
            format!("hooks could run `{}`", action.called()),
        )
    })
}

// snapshot_provenance, multitenancy(strategy = context, schema = "tenant_{}")
fn scopes(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(block) = &declared.tenancy.block else {
        return;
    };
    let scoped = block.reach == TenancyReach::Scoped;
    if scoped
        && block.strategy == Some(DeclaredStrategy::Context)
        && declared.provenance.scopes.is_none()
    {
        found.push(Violation::new(
            Rule::SnapshotScopesMissing,
            [Part::Provenance],
            format!(
                "`{}` has a schema per tenant, and nobody lists the tenants",
                declared.rust_name
            ),
        ));
    }
}
