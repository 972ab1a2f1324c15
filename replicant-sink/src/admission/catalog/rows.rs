//! Catalog rows become facts. A value that no supported version produces stops admission.

use std::collections::BTreeMap;

use postgres_types::FromSql;
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::pg_type::{TypeLine, Types};
use replicant_transport::source::{Generated, TableColumn, TableKind};
use tokio_postgres::Row;

use super::super::facts::{
    Column, End, Fires, ForeignKey, KeyPart, Rule, Server, Table, Trigger, UniqueIndex,
};
use super::super::render;
use crate::error::Error;
use crate::generation::Conversion;
use crate::reason::Reason;

/// Asked tables that exist, by their position in the question.
pub(super) type Tables = BTreeMap<i64, Table>;

pub(super) fn server(version: i32, row: &Row) -> Result<Server, Error> {
    Ok(Server {
        version,
        role: ident(row, 0)?,
        in_recovery: get(row, 1)?,
        default_read_only: get(row, 2)?,
        may_silence: get(row, 3)?,
        plain_money: get(row, 4)?,
    })
}

pub(super) fn tables(rows: &[Row], targets: &[&QualifiedName]) -> Result<Tables, Error> {
    let mut tables = Tables::new();
    for row in rows {
        let position: i64 = get(row, 0)?;
        let kind = match get::<&str>(row, 1)? {
            "r" => TableKind::Table,
            "p" => TableKind::Partitioned,
            _ => TableKind::Other,
        };
        let mut privileges_missing = Vec::new();
        for (index, privilege) in [(5, "select"), (6, "insert"), (7, "update"), (8, "delete")] {
            if !get::<bool>(row, index)? {
                privileges_missing.push(privilege);
            }
        }
        let table = Table {
            name: target(targets, position)?.clone(),
            kind,
            has_children: get(row, 2)?,
            row_security_applies: get(row, 3)?,
            schema_usable: get(row, 4)?,
            privileges_missing,
            columns: Vec::new(),
            unique: Vec::new(),
            constraints: Vec::new(),
            unique_over: Vec::new(),
            triggers: Vec::new(),
            rules: Vec::new(),
        };
        tables.insert(position, table);
    }
    Ok(tables)
}

pub(super) fn inputs(rows: &[Row]) -> Result<Vec<(u32, Option<Conversion>)>, Error> {
    rows.iter()
        .map(|row| {
            let oid = get(row, 0)?;
            if !get::<bool>(row, 5)? {
                let through = match get::<Option<&str>>(row, 6)? {
                    Some(_) => {
                        let array = qualified(row, 6)?.quoted().to_string();
                        Some(Conversion::ThroughArray(array))
                    }
                    None => None,
                };
                return Ok((oid, through));
            }
            let element: u32 = get(row, 4)?;
            let further = match get::<i16>(row, 3)? {
                1 => String::new(),
                2 => format!(", {element}::pg_catalog.oid"),
                _ => format!(", {element}::pg_catalog.oid, -1"),
            };
            let function = qualified(row, 1)?.quoted().to_string();
            Ok((oid, Some(Conversion::Input { function, further })))
        })
        .collect()
}

pub(super) fn types(rows: &[Row]) -> Result<Types, Error> {
    let mut types = Types::default();
    for row in rows {
        let part = match get::<Option<&str>>(row, 14)? {
            None => None,
            Some(part) => Some((part, get(row, 15)?, get(row, 16)?)),
        };
        types.add(&TypeLine {
            oid: get(row, 0)?,
            name: qualified(row, 1)?,
            kind: get(row, 3)?,
            base: get(row, 4)?,
            modifier: get(row, 5)?,
            element: get(row, 6)?,
            is_array: get(row, 7)?,
            not_null: get(row, 8)?,
            has_default: get(row, 9)?,
            bounds: get(row, 10)?,
            order: [get(row, 11)?, get(row, 12)?, get(row, 13)?],
            part,
        })?;
    }
    Ok(types)
}

pub(super) fn columns(rows: &[Row], types: &Types, tables: &mut Tables) -> Result<(), Error> {
    for row in rows {
        let oid = get(row, 3)?;
        let domain = types.domain(oid)?;
        let generated = match (get::<&str>(row, 6)?, get::<&str>(row, 7)?) {
            ("", "") => Generated::No,
            ("", "a") => Generated::IdentityAlways,
            ("", "d") => Generated::IdentityByDefault,
            _ => Generated::Expression,
        };
        table(tables, row)?.columns.push(Column {
            column: TableColumn {
                attnum: get(row, 1)?,
                name: ident(row, 2)?,
                ty: types.resolve(oid, get(row, 4)?)?,
                not_null: get::<bool>(row, 5)? || domain.not_null,
                generated,
            },
            has_default: get::<bool>(row, 8)? || domain.has_default,
            deterministic: get(row, 9)?,
        });
    }
    Ok(())
}

pub(super) fn unique(rows: &[Row], tables: &mut Tables) -> Result<(), Error> {
    for row in rows {
        let on = qualified(row, 1)?;
        let deferrable = match get::<Option<&str>>(row, 4)? {
            // A constraint lives in its table's schema.
            Some(constraint) => Some(QualifiedName {
                schema: on.schema.clone(),
                name: Ident::new(constraint).map_err(|_| unexpected())?,
            }),
            None => None,
        };
        let plain: bool = get(row, 3)?;
        let columns = if plain { key_parts(row)? } else { Vec::new() };
        let immediate = get(row, 9)?;
        let predicate: Option<String> = get(row, 10)?;
        let constraint = get::<Option<&str>>(row, 12)?.map(Ident::new).transpose();
        table(tables, row)?.unique.push(UniqueIndex {
            on,
            findable: plain && immediate && predicate.is_none(),
            deferrable,
            immediate,
            predicate,
            name: ident(row, 11)?,
            constraint: constraint.map_err(|_| unexpected())?,
            columns,
        });
    }
    Ok(())
}

pub(super) fn constraints(rows: &[Row], tables: &mut Tables) -> Result<(), Error> {
    for row in rows {
        // A name that no identifier of ours can be is never recognised in an error.
        let Ok(name) = Ident::new(get(row, 1)?) else {
            continue;
        };
        let table = table(tables, row)?;
        if let Some(keys) = get::<Option<Vec<&str>>>(row, 2)? {
            let keys = keys.into_iter().map(Ident::new).collect::<Result<_, _>>();
            let keys = keys.map_err(|_| unexpected())?;
            table.unique_over.push((name.clone(), keys));
        }
        if table.constraints.last() != Some(&name) {
            table.constraints.push(name);
        }
    }
    Ok(())
}

fn key_parts(row: &Row) -> Result<Vec<KeyPart>, Error> {
    let columns: Vec<&str> = get(row, 5)?;
    let schemas: Vec<&str> = get(row, 6)?;
    let symbols: Vec<&str> = get(row, 7)?;
    let deterministic: Vec<bool> = get(row, 8)?;
    columns
        .into_iter()
        .zip(schemas.into_iter().zip(symbols))
        .zip(deterministic)
        .map(|((column, (schema, symbol)), deterministic)| {
            Ok(KeyPart {
                column: Ident::new(column).map_err(|_| unexpected())?,
                equals: render::operator(schema, symbol).ok_or_else(unexpected)?,
                deterministic,
            })
        })
        .collect()
}

pub(super) fn triggers(rows: &[Row], tables: &mut Tables) -> Result<(), Error> {
    for row in rows {
        let trigger = Trigger {
            name: ident(row, 1)?,
            on: qualified(row, 2)?,
            fires: fires(get(row, 4)?)?,
        };
        let known = &mut table(tables, row)?.triggers;
        // The table's own trigger comes first; its clones on partitions have its name.
        if !known.iter().any(|one| one.name == trigger.name) {
            known.push(trigger);
        }
    }
    Ok(())
}

pub(super) fn rules(rows: &[Row], tables: &mut Tables) -> Result<(), Error> {
    for row in rows {
        let rule = Rule {
            name: ident(row, 1)?,
            fires: fires(get(row, 2)?)?,
        };
        table(tables, row)?.rules.push(rule);
    }
    Ok(())
}

pub(super) fn foreign_keys(
    rows: &[Row],
    targets: &[&QualifiedName],
) -> Result<Vec<ForeignKey>, Error> {
    rows.iter()
        .map(|row| {
            Ok(ForeignKey {
                name: qualified(row, 0)?,
                from: end(row, 2, 11, targets)?,
                to: end(row, 5, 12, targets)?,
                deferrable: get(row, 8)?,
                no_action: get(row, 9)?,
                match_full: get(row, 10)?,
                name_is_shared: get(row, 13)?,
            })
        })
        .collect()
}

fn end(row: &Row, at: usize, columns_at: usize, targets: &[&QualifiedName]) -> Result<End, Error> {
    let table = match get::<Option<i64>>(row, at + 2)? {
        Some(position) => Some(target(targets, position)?.clone()),
        None => None,
    };
    let columns: Vec<&str> = get(row, columns_at)?;
    Ok(End {
        relation: qualified(row, at)?,
        table,
        columns: columns
            .into_iter()
            .map(|name| Ident::new(name).map_err(|_| unexpected()))
            .collect::<Result<_, _>>()?,
    })
}

fn fires(letter: &str) -> Result<Fires, Error> {
    match letter {
        "D" => Ok(Fires::Disabled),
        "O" => Ok(Fires::Origin),
        "R" => Ok(Fires::Replica),
        "A" => Ok(Fires::Always),
        _ => Err(unexpected()),
    }
}

fn table<'a>(tables: &'a mut Tables, row: &Row) -> Result<&'a mut Table, Error> {
    let position: i64 = get(row, 0)?;
    // A table created between two queries of the batch.
    tables.get_mut(&position).ok_or_else(unexpected)
}

fn target<'a>(targets: &[&'a QualifiedName], position: i64) -> Result<&'a QualifiedName, Error> {
    usize::try_from(position - 1)
        .ok()
        .and_then(|index| targets.get(index).copied())
        .ok_or_else(unexpected)
}

fn qualified(row: &Row, at: usize) -> Result<QualifiedName, Error> {
    Ok(QualifiedName {
        schema: ident(row, at)?,
        name: ident(row, at + 1)?,
    })
}

fn ident(row: &Row, at: usize) -> Result<Ident, Error> {
    Ident::new(get(row, at)?).map_err(|_| unexpected())
}

fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Error> {
    row.try_get(at).map_err(|_| unexpected())
}

fn unexpected() -> Error {
    Error::new(
        Reason::DestinationRejected,
        Site::none().fact("the destination's catalog holds something this release does not know"),
    )
}
