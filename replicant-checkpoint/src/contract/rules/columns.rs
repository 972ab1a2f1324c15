//! Does every column have one place? Source and destination columns are mapped once, and a skipped one not at all.

use super::list::Rule;
use super::violation::{Part, Violation};
use crate::contract::declared::{DeclaredResource, DeclaredShape};

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    empty(declared, found);
    repeated(declared, found);
    skips(declared, found);
}

// #[replicant(table = "orders", skip(id, amount), ...)] struct Order {}
fn empty(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let maps_nothing = declared
        .columns
        .iter()
        .all(|column| column.source().is_none());
    let auxiliary = declared.shape() == DeclaredShape::Auxiliary;
    if maps_nothing && !auxiliary {
        found.push(Violation::new(
            Rule::ColumnsEmpty,
            [Part::Item],
            format!("`{}` maps no source column", declared.rust_name),
        ));
    }
}

// a: i64, #[replicant(source = "a", column = "a")] b: i64
fn repeated(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, column) in declared.columns.iter().enumerate() {
        let earlier = || declared.columns.iter().take(index).enumerate();
        let source = earlier()
            .find(|(_, other)| column.source().is_some() && other.source() == column.source());
        if let Some((first, other)) = source {
            let name = column.source().unwrap_or_default();
            found.push(Violation::new(
                Rule::SourceColumnRepeated,
                [Part::ColumnSource(index), Part::ColumnSource(first)],
                format!(
                    "`{}` and `{}` both read the source column `{name}`",
                    other.field, column.field
                ),
            ));
        }
        if let Some((first, other)) = earlier().find(|(_, other)| other.target == column.target) {
            found.push(Violation::new(
                Rule::TargetColumnRepeated,
                [Part::ColumnTarget(index), Part::ColumnTarget(first)],
                format!(
                    "`{}` and `{}` both write the destination column `{}`",
                    other.field, column.field, column.target
                ),
            ));
        }
    }
}

// skip(a, a), or skip(a) beside a field `a`
fn skips(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, name) in declared.skips.iter().enumerate() {
        if declared.skips.iter().take(index).any(|one| one == name) {
            found.push(Violation::new(
                Rule::SkipRepeated,
                [Part::Skip(index)],
                format!("`{name}` is skipped twice"),
            ));
        }
        let mapped = declared
            .columns
            .iter()
            .position(|column| column.source() == Some(name.as_str()));
        if let Some(column) = mapped
            && let Some(by) = declared.columns.get(column)
        {
            found.push(Violation::new(
                Rule::SkipMapped,
                [Part::Skip(index), Part::ColumnSource(column)],
                format!(
                    "`{name}` is skipped and also read by the field `{}`",
                    by.field
                ),
            ));
        }
    }
}
