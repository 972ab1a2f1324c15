//! Can rows be found again? Identities name fields, and the one rows are found by is made of source columns.
//!
//! A resource without primary key and upsert identity is legal: its rows are found by comparing whole rows, which
//! needs REPLICA IDENTITY FULL on the source. Admission checks that; no declaration can.

use super::list::Rule;
use super::nth;
use super::violation::{Part, Violation};
use super::wording::{field_meant, meant, shown};
use crate::contract::declared::{
    DeclaredIdentity, DeclaredOrigin, DeclaredResource, DeclaredShape,
};
use crate::contract::identity::IdentityReach;
use crate::contract::role::RoleOf;

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, identity) in declared.identities.iter().enumerate() {
        let earlier = declared.identities.iter().take(index);
        if let Some(first) = earlier.clone().position(|one| one.name == identity.name) {
            found.push(Violation::new(
                Rule::IdentityRepeated,
                [Part::IdentityName(index), Part::IdentityName(first)],
                format!("`{}` is declared twice", identity.name),
            ));
        }
        keys(declared, index, identity, found);
        predicate(index, identity, found);
    }
    upsert(declared, found);
}

// identity(by_email, keys()), keys(a, a), keys(no_such_field)
fn keys(
    declared: &DeclaredResource,
    index: usize,
    identity: &DeclaredIdentity,
    found: &mut Vec<Violation>,
) {
    let Some(keys) = &identity.keys else { return };
    if keys.is_empty() {
        found.push(Violation::new(
            Rule::IdentityEmpty,
            [Part::IdentityKeys(index)],
            format!("`{}` names no field", identity.name),
        ));
    }
    for (position, key) in keys.iter().enumerate() {
        let part = Part::IdentityKey(index, position);
        if keys.iter().take(position).any(|one| one == key) {
            found.push(Violation::new(
                Rule::IdentityKeyRepeated,
                [part],
                format!("`{}` names `{key}` twice", identity.name),
            ));
        }
        let identity_name = format!("`{}`", identity.name);
        found.extend(unknown(declared, part, &identity_name, key));
        let per_tenant = identity.reach == IdentityReach::Tenant;
        if per_tenant && declared.tenant_field() == Some(key.as_str()) {
            found.push(Violation::new(
                Rule::IdentityKeyTenant,
                [part],
                format!("`{}` names the tenant `{key}`", identity.name),
            ));
        }
    }
}

// identity(live, keys(id), where = " ")
fn predicate(index: usize, identity: &DeclaredIdentity, found: &mut Vec<Violation>) {
    let Some(text) = &identity.predicate else {
        return;
    };
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        found.push(Violation::new(
            Rule::IdentityPredicateInvalid,
            [Part::IdentityPredicate(index)],
            format!("`{}` is no condition", shown(text)),
        ));
    }
}

fn unknown(
    declared: &DeclaredResource,
    part: Part,
    identity: &str,
    key: &str,
) -> Option<Violation> {
    // A field that is to hold a fact is missed by the rule about that fact.
    let known = declared.column(key).is_some() || declared.role_of(key).is_some();
    (!known).then(|| {
        Violation::new(
            Rule::IdentityKeyUnknown,
            [part],
            format!(
                "{identity} names `{key}`, which is no field; {}",
                field_meant(declared, key)
            ),
        )
    })
}

// upsert_identity = no_such_identity, or a key with a generated field
fn upsert(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (position, key) in declared.primary_key.iter().enumerate() {
        found.extend(unknown(
            declared,
            Part::PrimaryKey(position),
            "the primary key",
            key,
        ));
    }
    // A log finds no rows, an auxiliary resource has no source to find them by, and a history has its own rules.
    let finds_rows = declared.shape() == DeclaredShape::Mirror;
    let Some(name) = &declared.upsert_identity else {
        if !finds_rows {
            return;
        }
        for (position, key) in declared.primary_key.iter().enumerate() {
            found.extend(generated(
                declared,
                Part::PrimaryKey(position),
                "the primary key",
                key,
            ));
        }
        return;
    };
    let chosen = declared.identities.iter().position(|one| one.name == *name);
    match nth(&declared.identities, chosen) {
        None => found.push(Violation::new(
            Rule::UpsertIdentityUnknown,
            [Part::UpsertIdentity],
            format!(
                "`{name}` is not a declared identity; {}",
                meant(
                    name,
                    declared.identities.iter().map(|one| one.name.as_str()),
                    "identity"
                )
            ),
        )),
        Some((index, identity)) => {
            if identity.predicate.is_some() {
                found.push(Violation::new(
                    Rule::IdentityPartial,
                    [Part::IdentityPredicate(index), Part::UpsertIdentity],
                    format!("`{name}` does not hold for every row that is to be found"),
                ));
            }
            if !finds_rows {
                return;
            }
            for (position, key) in identity.keys.iter().flatten().enumerate() {
                found.extend(generated(
                    declared,
                    Part::IdentityKey(index, position),
                    &format!("`{name}`"),
                    key,
                ));
            }
        }
    }
}

fn generated(
    declared: &DeclaredResource,
    part: Part,
    identity: &str,
    key: &str,
) -> Option<Violation> {
    let column = declared
        .columns
        .iter()
        .position(|column| column.field == key);
    let (index, column) = nth(&declared.columns, column)?;
    // The windows of a history and the axes of a log are written by the sink and known to it.
    let role = declared.role_of(key);
    let why = match column.origin {
        DeclaredOrigin::Destination => "the destination makes",
        DeclaredOrigin::Before(_) => "no row still has the former",
        DeclaredOrigin::Stamp if role.is_some_and(|role| role.of() == RoleOf::Provenance) => {
            "no source row has"
        }
        DeclaredOrigin::Source(_) | DeclaredOrigin::Stamp | DeclaredOrigin::Action => return None,
    };
    Some(Violation::new(
        Rule::KeyGenerated,
        [part, Part::ColumnGenerated(index), Part::Field(index)],
        format!("rows would be found by {identity}, but {why} `{key}`"),
    ))
}
