//! Which statement repairs it? Text for the operator, built from quoted names; admission runs none of it.

use replicant_checkpoint::contract::resource::{ColumnSpec, Protection, ResourceSpec};
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::source::PgType;

use super::coverage::{Mapped, MappedColumn, MappedStamp};
use super::facts::{ForeignKey, UniqueIndex};
use super::render;
use crate::ddl::model::{MadeBy, Nulls, Table};
use crate::ddl::place::Home;
use crate::ddl::statement::{self, Layout};
use crate::ddl::table::{self, Known};

pub(super) use crate::ddl::statement::{alter_column, drop_constraint, list};

/// A destination table that admission would accept, with the source's types.
///
/// `None` when the declaration does not say enough: a column that the destination makes and nobody says how.
pub(super) fn create_table(mapped: &Mapped<'_>) -> Option<String> {
    Some(with_indexes(&table(mapped)?))
}

/// The index over exactly these columns that the table should have: one that a migration writes, or one like it.
pub(super) fn create_index(
    mapped: &Mapped<'_>,
    columns: &[&Ident],
    predicate: Option<&str>,
) -> String {
    let wanted = table(mapped).and_then(|table| {
        table.unique.into_iter().find(|index| {
            index.columns.len() == columns.len()
                && columns.iter().all(|name| index.columns.contains(name))
                && index.predicate.as_deref() == predicate
        })
    });
    match wanted {
        Some(index) => statement::create_index(&mapped.target, &index),
        None => format!(
            "create unique index on {} ({}){}",
            mapped.target.quoted(),
            list(columns.iter().copied()),
            predicate.map_or_else(String::new, |predicate| format!(" where {predicate}"))
        ),
    }
}

/// The table of a resource that has no source, as a migration would write it.
pub(super) fn declared_table(spec: &'static ResourceSpec) -> Option<String> {
    let table = table::table(spec, MadeBy::Migrations, &table::declared).ok()?;
    Some(with_indexes(&table))
}

/// The definition of a column of such a table.
pub(super) fn declared_column(
    spec: &'static ResourceSpec,
    column: &'static ColumnSpec,
) -> Option<String> {
    let name = QualifiedName::new(spec.target.schema, spec.target.table).ok()?;
    let column = table::column(spec, column, &table::declared).ok()?;
    Some(statement::add_column(&name, &column))
}

fn with_indexes(table: &Table) -> String {
    let indexes = table.unique.iter();
    let indexes = indexes.map(|index| statement::create_index(table, index));
    let create = statement::create_table(table, Layout::Line);
    let statements: Vec<String> = [create].into_iter().chain(indexes).collect();
    statements.join("; ")
}

/// The definition of a column that the sink fills.
pub(super) fn stamp(mapped: &Mapped<'_>, stamp: &MappedStamp) -> Option<String> {
    let column = table::column(mapped.spec, stamp.spec, &|_| None).ok()?;
    Some(statement::add_column(&mapped.target, &column))
}

fn table(mapped: &Mapped<'_>) -> Option<Table> {
    let known = |column: &'static ColumnSpec| {
        let found = mapped.columns.iter().find(|one| one.spec == column)?;
        Some(Known {
            sql_type: column_type(found),
            nulls: match found.source.not_null {
                true => Nulls::Refused,
                false => Nulls::Allowed,
            },
        })
    };
    let table = table::table(mapped.spec, MadeBy::Migrations, &known).ok()?;
    // A tenant's has another schema than the declared one, and is called by its name.
    Some(Table {
        name: mapped.target.clone(),
        home: Home::Fixed,
        ..table
    })
}

/// What removes a unique index or the constraint it belongs to.
pub(super) fn drop_index(index: &UniqueIndex) -> String {
    match &index.constraint {
        Some(constraint) => drop_constraint(&index.on, constraint),
        None => statement::drop_index(&index.on, &index.name),
    }
}

/// The declared type, or the source's; a sealed value is bytes whatever it was.
pub(super) fn column_type(column: &MappedColumn<'_>) -> String {
    if column.spec.protection == Protection::Sealed {
        return "bytea".to_owned();
    }
    match column.spec.sql_type {
        Some(declared) => declared.to_owned(),
        None => render::column_type(&column.source.ty),
    }
}

/// A plain column in place of a computed one, whose values nothing else holds.
pub(super) fn replace_column(table: &QualifiedName, column: &Ident, ty: &PgType) -> String {
    format!(
        "alter table {} drop column {column}, add column {column} {}",
        table.quoted(),
        render::column_type(ty),
        column = column.quoted()
    )
}

/// What makes a foreign key one that delivery can defer.
pub(super) fn deferrable(key: &ForeignKey) -> String {
    let table = key.from.relation.quoted();
    let name = key.name.name.quoted();
    if key.no_action && !key.deferrable {
        return format!("alter table {table} alter constraint {name} deferrable");
    }
    if key.no_action {
        // Only the shared name is in the way.
        return format!(
            "another constraint of the schema has this name: \
             alter table {table} rename constraint {name} to a name of its own"
        );
    }
    format!(
        "alter table {table} drop constraint {name}, add constraint {name} foreign key ({}) \
         references {} ({}){} deferrable",
        list(&key.from.columns),
        key.to.relation.quoted(),
        list(&key.to.columns),
        if key.match_full { " match full" } else { "" }
    )
}
