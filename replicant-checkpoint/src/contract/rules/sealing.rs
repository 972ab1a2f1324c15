//! Is nothing sensitive stored in the clear, and nothing sealed compared? Whether a plain field's type is bytes is
//! for the types to say.

use super::list::Rule;
use super::violation::{Part, Violation};
use super::wording::meant;
use crate::contract::column::Protection;
use crate::contract::declared::{DeclaredOrigin, DeclaredResource, DeclaredShape};

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    if declared.shape() != DeclaredShape::Auxiliary {
        sensitive(declared, found);
    }
    sealed(declared, found);
}

// sensitive(pan, pan, no_such_column)
fn sensitive(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let read = declared
        .columns
        .iter()
        .filter_map(|column| match &column.origin {
            DeclaredOrigin::Source(name) | DeclaredOrigin::Before(name) => Some(name.as_str()),
            DeclaredOrigin::Destination | DeclaredOrigin::Stamp | DeclaredOrigin::Action => None,
        });
    let known = read.chain(declared.skips.iter().map(String::as_str));
    for (index, name) in declared.sensitive.iter().enumerate() {
        let part = Part::Sensitive(index);
        if declared.sensitive.iter().take(index).any(|one| one == name) {
            found.push(Violation::new(
                Rule::SensitiveRepeated,
                [part],
                format!("`{name}` is listed twice"),
            ));
        } else if !known.clone().any(|one| one == name) {
            let meant = meant(name, known.clone(), "source column");
            found.push(Violation::new(
                Rule::SensitiveUnmapped,
                [part],
                format!("`{name}` is neither read by a field nor skipped; {meant}"),
            ));
        }
    }
}

// identity(by_pan, keys(pan)) beside #[replicant(encrypted)] pan; encrypted on a generated field
fn sealed(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, column) in declared.columns.iter().enumerate() {
        if column.protection == Protection::Plain {
            continue;
        }
        if column.sql_type.is_some() {
            found.push(Violation::new(
                Rule::SealedSqlType,
                [Part::ColumnSqlType(index)],
                format!(
                    "`{}` is sealed, and `sql_type` gives it another type",
                    column.field
                ),
            ));
        }
        let filled = match column.origin {
            DeclaredOrigin::Source(_) | DeclaredOrigin::Before(_) | DeclaredOrigin::Action => {
                declared.role_of(&column.field).is_some()
            }
            DeclaredOrigin::Destination | DeclaredOrigin::Stamp => true,
        };
        if filled {
            found.push(Violation::new(
                Rule::EncryptedWithoutValue,
                [Part::ColumnEncrypted(index), Part::Field(index)],
                format!("`{}` holds no value that could be sealed", column.field),
            ));
            continue;
        }
        let keys = keys_with(declared, &column.field);
        if !keys.is_empty() {
            let subjects: Vec<Part> = keys
                .into_iter()
                .chain([Part::ColumnEncrypted(index)])
                .collect();
            found.push(Violation::new(
                Rule::SealedKey,
                subjects,
                format!("`{}` is sealed and part of a key", column.field),
            ));
        }
    }
}

/// Everywhere a field is named as part of a key, the first to be reported.
fn keys_with(declared: &DeclaredResource, field: &str) -> Vec<Part> {
    let at = |names: &[String]| names.iter().position(|name| name == field);
    let mut parts = Vec::new();
    parts.extend(at(&declared.primary_key).map(Part::PrimaryKey));
    for (index, identity) in declared.identities.iter().enumerate() {
        let key = identity.keys.as_deref().and_then(at);
        parts.extend(key.map(|key| Part::IdentityKey(index, key)));
    }
    let business = declared.history.business_key.as_deref();
    parts.extend(business.and_then(at).map(Part::BusinessKeyField));
    parts
}
