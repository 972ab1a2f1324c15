//! What the Rust types promise, judged on a compiled specification.
//!
//! Each rule of [`RULES`] is paired with a trait bound or constant assertion that the macros emit; this is the same
//! judgement for specifications written by hand.

use super::rule::Rule;
use super::violation::{Part, Violation};
use crate::contract::refusal::Message;
use crate::contract::resource::{ColumnSpec, Nullability, ResourceSpec};

/// Every rule about types. `column_type` is a trait bound alone: a specification always has a storage.
pub const RULES: &[Rule] = &[Rule::ColumnType, Rule::KeyNullable];

/// Judges the types of a compiled specification.
pub fn types(spec: &ResourceSpec) -> Vec<Violation> {
    let identities = spec.identities.iter().flat_map(|identity| identity.keys);
    let keys: Vec<&str> = spec.primary_key.iter().chain(identities).copied().collect();
    let nullable = |(_, column): &(usize, &ColumnSpec)| {
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

/// The constant assertion of `key_nullable`: refuses a key column that may be NULL.
#[track_caller]
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error"
)]
pub const fn refuse_nullable_key(spec: &ResourceSpec, column: usize) {
    let column = &spec.columns[column];
    if matches!(column.nullability, Nullability::Nullable) {
        Message::new()
            .line(Rule::KeyNullable)
            .quote(column.field)
            .text(" is part of a key of ")
            .quote(spec.rust_name)
            .text(" and may be NULL")
            .refuse(Rule::KeyNullable);
    }
}
