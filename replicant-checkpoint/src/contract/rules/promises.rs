//! What the Rust types promise, judged on a compiled specification.
//!
//! Each rule of [`RULES`] is paired with a trait bound or constant assertion that the macros emit; this is the same
//! judgement for specifications written by hand.

use super::rule::Rule;
use super::violation::{Part, Violation};
use crate::contract::resource::{Nullability, ResourceSpec};

/// Every rule about types. `column_type` is a trait bound alone: a specification always has a storage.
pub const RULES: &[Rule] = &[Rule::ColumnType, Rule::KeyNullable];

/// Judges the types of a compiled specification.
pub fn types(spec: &ResourceSpec) -> Vec<Violation> {
    let identities = spec.identities.iter().flat_map(|identity| identity.keys);
    let keys: Vec<&str> = spec.primary_key.iter().chain(identities).copied().collect();
    let nullable = |(_, column): &(usize, &crate::contract::resource::ColumnSpec)| {
        column.nullability == Nullability::Nullable && keys.contains(&column.field)
    };
    spec.columns
        .iter()
        .enumerate()
        .filter(nullable)
        .map(|(index, column)| {
            Violation::new(
                Rule::KeyNullable,
                [Part::ColumnType(index)],
                format!(
                    "`{}` is part of a key of `{}` and may be NULL",
                    column.field, spec.rust_name
                ),
            )
        })
        .collect()
}
