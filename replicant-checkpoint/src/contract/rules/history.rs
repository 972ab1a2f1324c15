//! Can the versions of a history be told apart, opened and closed?

use std::collections::BTreeSet;

use super::actions::{accepts, find_action};
use super::list::Rule;
use super::shapes::shape_part;
use super::violation::{Part, Violation};
use super::wording::{field_meant, listed, meant};
use crate::contract::action::ActionKind;
use crate::contract::declared::{DeclaredAction, DeclaredResource, DeclaredShape};
use crate::contract::role::{Role, RoleOf};

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    if !declared.has(RoleOf::History) {
        return;
    }
    business_key(declared, found);
    identity(declared, found);
    close_action(declared, found);
}

// history_strategy = scd2 alone; history_business_key(no_such_field, id, id)
fn business_key(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let keys = declared.history.business_key.as_deref().unwrap_or_default();
    if keys.is_empty() {
        let part = match declared.history.business_key {
            Some(_) => Part::BusinessKey,
            None => shape_part(declared, DeclaredShape::History),
        };
        found.push(Violation::new(
            Rule::BusinessKeyMissing,
            [part],
            format!("nothing tells the rows of `{}` apart", declared.rust_name),
        ));
    }
    for (index, key) in keys.iter().enumerate() {
        let part = Part::BusinessKeyField(index);
        if keys.iter().take(index).any(|one| one == key) {
            found.push(Violation::new(
                Rule::BusinessKeyRepeated,
                [part],
                format!("`{key}` is named twice"),
            ));
            continue;
        }
        let Some((column, spec)) = declared.column(key) else {
            found.push(Violation::new(
                Rule::BusinessKeyUnknown,
                [part, Part::BusinessKey],
                format!("`{key}` is no field; {}", field_meant(declared, key)),
            ));
            continue;
        };
        if declared.primary_key.contains(key) {
            found.push(Violation::new(
                Rule::BusinessKeyPrimary,
                [part, Part::Field(column)],
                format!(
                    "`{key}` is the same in every version of a row, and part of the primary key"
                ),
            ));
        }
        let tenant = declared.tenant_field() == Some(key.as_str());
        if tenant {
            found.push(Violation::new(
                Rule::IdentityKeyTenant,
                [part],
                format!("the business key names the tenant `{key}`"),
            ));
        } else if spec.source().is_none() {
            found.push(Violation::new(
                Rule::BusinessKeyNotMapped,
                [part, Part::Field(column)],
                format!("no source column feeds `{key}`"),
            ));
        }
    }
}

// no upsert_identity; identity(version, keys(order_id)), upsert_identity = version
fn identity(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(name) = &declared.upsert_identity else {
        found.push(Violation::new(
            Rule::HistoryIdentityMissing,
            [shape_part(declared, DeclaredShape::History)],
            format!("`{}` does not say what finds a version", declared.rust_name),
        ));
        return;
    };
    let mut identities = declared.identities.iter().enumerate();
    let Some((index, identity)) = identities.find(|(_, one)| one.name == *name) else {
        return;
    };
    let (Some(keys), Some(business), Some(from)) = (
        &identity.keys,
        &declared.history.business_key,
        declared.field_of(Role::ValidFromLsn),
    ) else {
        return;
    };
    if business.is_empty() {
        return;
    }
    let wanted: BTreeSet<&str> = business.iter().map(String::as_str).chain([from]).collect();
    let named: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
    if named != wanted {
        let subjects = (0..keys.len())
            .map(|key| Part::IdentityKey(index, key))
            .chain([Part::BusinessKey]);
        let wanted: Vec<&str> = business.iter().map(String::as_str).chain([from]).collect();
        found.push(Violation::new(
            Rule::HistoryIdentityKeys,
            std::iter::once(Part::IdentityKeys(index))
                .chain(subjects)
                .collect::<Vec<_>>(),
            format!(
                "`{name}` names {}, and a version is told apart by {}",
                listed(&keys.iter().map(String::as_str).collect::<Vec<_>>()),
                listed(&wanted)
            ),
        ));
    }
}

// actions(update(accept = all)); update(close_version, accept(valid_to))
fn close_action(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(actions) = &declared.actions else {
        return;
    };
    let name = declared.close_action();
    let Some((index, action)) = find_action(actions, ActionKind::Update, name) else {
        let part = match declared.history.close_action {
            Some(_) => Part::CloseAction,
            None => shape_part(declared, DeclaredShape::History),
        };
        let updates = actions
            .iter()
            .filter(|action| action.kind == ActionKind::Update)
            .map(DeclaredAction::called);
        found.push(Violation::new(
            Rule::CloseActionMissing,
            [part],
            format!(
                "no update is called `{name}`; {}",
                meant(name, updates, "update")
            ),
        ));
        return;
    };
    let window = [Role::ValidToLsn, Role::ValidTo, Role::Current];
    let dropped: Vec<&str> = window
        .into_iter()
        .filter_map(|role| declared.field_of(role))
        .filter(|field| declared.column(field).is_some() && !accepts(declared, action, field))
        .collect();
    if !dropped.is_empty() {
        found.push(Violation::new(
            Rule::CloseActionDrops,
            [Part::ActionAccept(index), Part::Action(index)],
            format!("`{name}` does not accept {}", listed(&dropped)),
        ));
    }
}
