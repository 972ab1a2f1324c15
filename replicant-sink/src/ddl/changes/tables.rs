//! What changes about the tables?
//!
//! Within a table: indexes and keys that go, columns that have a new name, new columns, changed ones, columns that go,
//! keys and indexes that are new. An index is gone before a column of it changes, and comes after; the way down is the
//! way up backwards, so each statement finds the names it was written for.

use std::collections::BTreeSet;

use replicant_transport::ident::Ident;

use super::{ByName, Change, Risk};
use crate::ddl::model::{Column, Filled, MadeBy, Nulls, Table};
use crate::ddl::names;
use crate::ddl::place::{Home, Place};
use crate::ddl::sql_type::widens;
use crate::ddl::statement::{self, Layout};

/// The schema that every database has.
const PUBLIC: &str = "public";

pub(super) fn changes(before: &ByName<'_>, after: &ByName<'_>) -> Vec<Change> {
    let mut changes = schemas(before, after);
    for (name, table) in after {
        match before.get(name) {
            None => changes.extend(created(table)),
            Some(earlier) => changes.extend(altered(earlier, table)),
        }
    }
    let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
    changes.extend(gone.flat_map(|(_, table)| removed(table, moved(table, before, after))));
    changes
}

/// Has a table of its name come to be in a schema of another kind? Then its rows are not there.
fn moved(table: &Table, before: &ByName<'_>, after: &ByName<'_>) -> bool {
    let new = after.iter().filter(|(name, _)| !before.contains_key(*name));
    let mut other = new.filter(|(_, other)| other.home != table.home);
    other.any(|((_, name), _)| name.name == table.name.name)
}

/// Schemas of tables that a migration makes. None is ever dropped: other tables may live in it. That of a tenant comes
/// with the tenant.
fn schemas(before: &ByName<'_>, after: &ByName<'_>) -> Vec<Change> {
    let of = |tables: &ByName<'_>| -> BTreeSet<Ident> {
        let made = tables.values();
        let made =
            made.filter(|table| table.made_by == MadeBy::Migrations && table.home == Home::Fixed);
        made.map(|table| table.name.schema.clone()).collect()
    };
    let (known, wanted) = (of(before), of(after));
    let new = wanted.difference(&known);
    new.filter(|schema| schema.as_str() != PUBLIC)
        .map(|schema| Change {
            place: Place::Destination,
            subject: format!("schema {}", schema.quoted()),
            what: "created unless it exists; it stays when this is undone".to_owned(),
            up: vec![format!("create schema if not exists {}", schema.quoted())],
            down: Vec::new(),
            risk: Risk::None,
        })
        .collect()
}

fn created(table: &Table) -> Vec<Change> {
    match table.made_by {
        MadeBy::Migrations => {
            let down = vec![statement::drop_table(table)];
            let what = match table.home {
                Home::Fixed => "created",
                Home::EachTenant => "created for each tenant",
            };
            vec![change(table, what, definition(table), down)]
        }
        // The host has made it; only what it lacks is added.
        MadeBy::Host => altered(&empty(table), table),
    }
}

fn removed(table: &Table, moved: bool) -> Vec<Change> {
    match table.made_by {
        MadeBy::Migrations => {
            let (up, down) = (vec![statement::drop_table(table)], definition(table));
            let what = match (moved, table.home) {
                (false, _) => "no longer declared",
                (true, Home::Fixed) => {
                    "declared for each tenant instead; its rows are not copied to them"
                }
                (true, Home::EachTenant) => {
                    "declared for all tenants together instead; the rows of tenants are not copied there"
                }
            };
            vec![dropping(table, what, up, down, None)]
        }
        MadeBy::Host => altered(table, &empty(table)),
    }
}

/// What makes a table with its indexes.
fn definition(table: &Table) -> Vec<String> {
    let create = statement::create_table(table, Layout::Lines);
    let indexes = table.unique.iter();
    let indexes = indexes.map(|index| statement::create_index(table, index));
    [create].into_iter().chain(indexes).collect()
}

/// A table of the host's before anything was added to it.
fn empty(table: &Table) -> Table {
    Table {
        columns: Vec::new(),
        unique: Vec::new(),
        ..table.clone()
    }
}

fn altered(before: &Table, new: &Table) -> Vec<Change> {
    let (renames, old) = renamed(before, new);
    let mut changes = Vec::new();
    let indexes = before.unique.iter().zip(&old.unique);
    for (index, _) in indexes.filter(|(_, index)| !new.unique.contains(index)) {
        let what = format!("unique index {} removed", index.name.quoted());
        let up = statement::drop_index(new, &index.name);
        let down = statement::create_index(new, index);
        changes.push(change(new, &what, vec![up], vec![down]));
    }
    let rekeyed = old.primary_key != new.primary_key;
    if rekeyed && !old.primary_key.is_empty() {
        let up = statement::drop_constraint(new, &names::primary_key(&new.name));
        let down = statement::add_primary_key(new, &before.primary_key);
        changes.push(change(new, "primary key removed", vec![up], vec![down]));
    }
    changes.extend(renames);
    for column in &new.columns {
        match find(&old.columns, &column.name) {
            None => changes.push(added_column(new, column)),
            Some(earlier) => changes.extend(altered_column(new, earlier, column)),
        }
    }
    for column in &old.columns {
        if find(&new.columns, &column.name).is_none() {
            changes.push(removed_column(new, column));
        }
    }
    if rekeyed && !new.primary_key.is_empty() {
        let up = statement::add_primary_key(new, &new.primary_key);
        let down = statement::drop_constraint(new, &names::primary_key(&new.name));
        changes.push(change(new, "primary key added", vec![up], vec![down]));
    }
    for index in new
        .unique
        .iter()
        .filter(|index| !old.unique.contains(index))
    {
        let what = format!("unique index {} added", index.name.quoted());
        let up = statement::create_index(new, index);
        let down = statement::drop_index(new, &index.name);
        changes.push(change(new, &what, vec![up], vec![down]));
    }
    changes
}

/// A column with another name and the same source column is the same column; keys and indexes follow it.
fn renamed(old: &Table, new: &Table) -> (Vec<Change>, Table) {
    let mut changes = Vec::new();
    let mut table = old.clone();
    for column in &new.columns {
        if column.source.is_none() || find(&old.columns, &column.name).is_some() {
            continue;
        }
        let earlier = old.columns.iter().find(|one| {
            one.source == column.source
                && one.sql_type == column.sql_type
                && find(&new.columns, &one.name).is_none()
        });
        let Some(from) = earlier.map(|earlier| &earlier.name) else {
            continue;
        };
        let to = &column.name;
        let what = format!("column {} renamed to {}", from.quoted(), to.quoted());
        let up = statement::rename_column(new, from, to);
        let down = statement::rename_column(new, to, from);
        changes.push(change(new, &what, vec![up], vec![down]));
        let columns = table.columns.iter_mut().map(|column| &mut column.name);
        let indexed = table.unique.iter_mut().flat_map(|index| &mut index.columns);
        let named = columns.chain(&mut table.primary_key).chain(indexed);
        named
            .filter(|name| *name == from)
            .for_each(|name| *name = to.clone());
    }
    (changes, table)
}

/// Rows that exist have no value of a new column, so it may be NULL unless the destination fills it.
fn added_column(table: &Table, column: &Column) -> Change {
    let nullable = Column {
        nulls: Nulls::Allowed,
        ..column.clone()
    };
    let name = column.name.quoted();
    let what = match column.nulls {
        Nulls::Allowed => format!("column {name} added"),
        Nulls::Refused => format!(
            "column {name} added; it may be NULL, because rows that exist have no value of it"
        ),
    };
    let up = statement::add_column(table, &nullable);
    let down = statement::drop_column(table, &column.name);
    change(table, &what, vec![up], vec![down])
}

fn altered_column(table: &Table, old: &Column, new: &Column) -> Vec<Change> {
    let quoted = new.name.quoted();
    let alter = |change: &str| statement::alter_column(table, &new.name, change);
    let mut changes = Vec::new();
    if old.filled != new.filled {
        let replaced = |by: &Column| {
            let drop = statement::drop_column(table, &new.name);
            vec![drop, statement::add_column(table, by)]
        };
        let what = match new.filled {
            Filled::Written => {
                format!("column {quoted} replaced: the destination no longer fills it")
            }
            Filled::Identity | Filled::RandomUuid => {
                format!("column {quoted} replaced: the destination fills it now")
            }
        };
        changes.push(Change {
            risk: Risk::Converts,
            ..change(table, &what, replaced(new), replaced(old))
        });
        return changes;
    }
    if old.sql_type != new.sql_type {
        let to = |ty: &str| alter(&format!("type {ty} using {quoted}::{ty}"));
        let what = format!(
            "column {quoted} changed from {} to {}",
            old.sql_type, new.sql_type
        );
        let risk = match widens(&old.sql_type, &new.sql_type) {
            true => Risk::None,
            false => Risk::Converts,
        };
        changes.push(Change {
            risk,
            ..change(
                table,
                &what,
                vec![to(&new.sql_type)],
                vec![to(&old.sql_type)],
            )
        });
    }
    let (drop, set) = (alter("drop not null"), alter("set not null"));
    match (old.nulls, new.nulls) {
        (Nulls::Refused, Nulls::Allowed) => {
            let what = format!("column {quoted} may be NULL");
            changes.push(change(table, &what, vec![drop], vec![set]));
        }
        (Nulls::Allowed, Nulls::Refused) => {
            let what = format!("column {quoted} may not be NULL");
            changes.push(change(table, &what, vec![set], vec![drop]));
        }
        (Nulls::Allowed, Nulls::Allowed) | (Nulls::Refused, Nulls::Refused) => {}
    }
    changes
}

/// A column that stays has to take NULL, for nobody writes it any more.
fn removed_column(table: &Table, column: &Column) -> Change {
    let name = &column.name;
    let what = format!("column {} no longer declared", name.quoted());
    let back = Column {
        nulls: Nulls::Allowed,
        ..column.clone()
    };
    let up = vec![statement::drop_column(table, name)];
    let down = vec![statement::add_column(table, &back)];
    let unfilled = column.nulls == Nulls::Refused && column.filled == Filled::Written;
    let kept = unfilled.then(|| {
        let alter = |change| vec![statement::alter_column(table, name, change)];
        (alter("drop not null"), alter("set not null"))
    });
    dropping(table, &what, up, down, kept)
}

fn change(table: &Table, what: &str, up: Vec<String>, down: Vec<String>) -> Change {
    Change {
        place: Place::of(table),
        subject: format!("table {}", table.name.quoted()),
        what: what.to_owned(),
        up,
        down,
        risk: Risk::None,
    }
}

fn dropping(
    table: &Table,
    what: &str,
    up: Vec<String>,
    down: Vec<String>,
    kept: Option<(Vec<String>, Vec<String>)>,
) -> Change {
    let (kept_up, kept_down) = kept.unwrap_or_default();
    Change {
        risk: Risk::Drops {
            up: kept_up,
            down: kept_down,
        },
        ..change(table, what, up, down)
    }
}

fn find<'a>(columns: &'a [Column], name: &Ident) -> Option<&'a Column> {
    columns.iter().find(|column| column.name == *name)
}
