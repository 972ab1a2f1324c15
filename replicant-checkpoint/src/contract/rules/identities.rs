//! Can rows be found again? Identities name fields, and the one rows are found by is made of source columns.
//!
//! A resource without primary key and upsert identity is legal: its rows are found by comparing whole rows, which
//! needs REPLICA IDENTITY FULL on the source. Admission checks that; no declaration can.

use super::rule::Rule;
use super::violation::{Part, Violation};
use super::{fields_of, nth};
use crate::contract::declared::{DeclaredIdentity, DeclaredOrigin, DeclaredResource};

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
        found.extend(unknown(declared, part, &identity.name, key));
    }
}

fn unknown(
    declared: &DeclaredResource,
    part: Part,
    identity: &str,
    key: &str,
) -> Option<Violation> {
    let known = declared.columns.iter().any(|column| column.field == key);
    (!known).then(|| {
        Violation::new(
            Rule::IdentityKeyUnknown,
            [part],
            format!(
                "`{identity}` names `{key}`, which is no field; {}",
                fields_of(declared)
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
    let Some(name) = &declared.upsert_identity else {
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
            format!("`{name}` is not a declared identity"),
        )),
        Some((index, identity)) => {
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
    (column.origin == DeclaredOrigin::Destination).then(|| {
        Violation::new(
            Rule::KeyGenerated,
            [part, Part::ColumnGenerated(index)],
            format!("rows would be found by {identity}, but the destination makes `{key}`"),
        )
    })
}
