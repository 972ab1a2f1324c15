//! Is every event of a log recorded, and recorded once?

use std::collections::BTreeSet;

use super::actions::find_action;
use super::list::Rule;
use super::shapes::shape_part;
use super::violation::{Part, Violation};
use super::wording::{listed, meant};
use crate::contract::action::ActionKind;
use crate::contract::declared::{
    DeclaredAction, DeclaredResource, DeclaredShape, DeclaredStrategy, Written,
};
use crate::contract::identity::IdentityReach;
use crate::contract::role::{Role, RoleOf};

/// The roles that identify an event, in the order of the index.
const AXES: [Role; 5] = [
    Role::SourceSystem,
    Role::SourceDatabase,
    Role::Slot,
    Role::CommitLsn,
    Role::Ordinal,
];

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    if !declared.has(RoleOf::AppendLog) {
        return;
    }
    identity(declared, found);
    action(declared, found);
    if let Some(name) = &declared.upsert_identity {
        found.push(Violation::new(
            Rule::AppendUpsertIdentity,
            [Part::UpsertIdentity],
            format!("events would be found by `{name}`"),
        ));
    }
    let block = declared.tenancy.block.as_ref();
    let per_schema = block.is_some_and(|block| block.strategy == Some(DeclaredStrategy::Context));
    if per_schema && declared.tells_tenants() {
        found.push(Violation::new(
            Rule::AppendLogPerSchema,
            [Part::TenancyStrategy],
            format!(
                "`{}` is a log, and each tenant would have a part of it",
                declared.rust_name
            ),
        ));
    }
    if declared.provenance.opted_in == Written::Yes {
        found.push(Violation::new(
            Rule::AppendProvenance,
            [Part::Provenance],
            format!(
                "`{}` is a log, whose events are never retired",
                declared.rust_name
            ),
        ));
    }
}

// append_identity = no_such_identity, keys(commit_lsn), or a tenant without all_tenants
fn identity(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let name = declared.append_identity();
    let mut identities = declared.identities.iter().enumerate();
    let Some((index, identity)) = identities.find(|(_, one)| one.name == name) else {
        let part = match declared.append.identity {
            Some(_) => Part::AppendIdentity,
            None => shape_part(declared, DeclaredShape::AppendLog),
        };
        let identities = declared.identities.iter().map(|one| one.name.as_str());
        found.push(Violation::new(
            Rule::AppendIdentityUnknown,
            [part],
            format!(
                "`{name}` is no identity; {}",
                meant(name, identities, "identity")
            ),
        ));
        return;
    };
    let axes: Vec<&str> = AXES
        .into_iter()
        .filter_map(|role| declared.field_of(role))
        .collect();
    if let Some(keys) = &identity.keys {
        let wanted: BTreeSet<&str> = axes.iter().copied().collect();
        let named: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        if named != wanted {
            let subjects = (0..keys.len()).map(|key| Part::IdentityKey(index, key));
            found.push(Violation::new(
                Rule::AppendIdentityKeys,
                std::iter::once(Part::IdentityKeys(index))
                    .chain(subjects)
                    .collect::<Vec<_>>(),
                format!(
                    "`{name}` names {}, and an event is told apart by {}",
                    listed(&keys.iter().map(String::as_str).collect::<Vec<_>>()),
                    listed(&axes)
                ),
            ));
        }
    }
    if identity.predicate.is_some() {
        found.push(Violation::new(
            Rule::IdentityPartial,
            [Part::IdentityPredicate(index)],
            format!("`{name}` does not hold for every event"),
        ));
    }
    let per_tenant = identity.reach == IdentityReach::Tenant;
    if per_tenant && let Some(tenant) = declared.tenant_field() {
        found.push(Violation::new(
            Rule::AppendIdentityPerTenant,
            [Part::IdentityName(index)],
            format!("`{name}` would tell events apart within one `{tenant}` only"),
        ));
    }
}

// append_log, actions(read, create(accept = all))
fn action(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(actions) = &declared.actions else {
        return;
    };
    let name = declared.append_action();
    if find_action(actions, ActionKind::Create, name).is_some() {
        return;
    }
    let part = match declared.append.action {
        Some(_) => Part::AppendAction,
        None => shape_part(declared, DeclaredShape::AppendLog),
    };
    let creates = actions
        .iter()
        .filter(|action| action.kind == ActionKind::Create)
        .map(DeclaredAction::called);
    found.push(Violation::new(
        Rule::AppendActionMissing,
        [part],
        format!(
            "no create is called `{name}`; {}",
            meant(name, creates, "create")
        ),
    ));
}
