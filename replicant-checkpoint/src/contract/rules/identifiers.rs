//! Are the declared names names? PostgreSQL would cut or refuse the others, and its own schemas are not ours.

use replicant_transport::ident::{NotAnIdent, QualifiedName, check_ident, check_slot_name};

use super::list::Rule;
use super::violation::{Part, Violation};
use super::wording::shown;
use crate::contract::declared::{
    DeclaredCheckpoint, DeclaredOrigin, DeclaredResource, DeclaredSink,
};

pub(super) fn resource(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let tables = [
        (&declared.source_schema, Part::SourceSchema),
        (&declared.source_table, Part::SourceTable),
        (&declared.schema, Part::TargetSchema),
        (&declared.table, Part::TargetTable),
    ];
    for (name, part) in tables {
        found.extend(name.as_deref().and_then(|name| ident(name, part)));
    }
    let schemas = [
        (&declared.source_schema, Part::SourceSchema),
        (&declared.schema, Part::TargetSchema),
    ];
    for (name, part) in schemas {
        found.extend(name.as_deref().and_then(|name| reserved(name, part)));
    }
    for (index, column) in declared.columns.iter().enumerate() {
        let source = match &column.origin {
            DeclaredOrigin::Source(name) => Some((name.as_str(), Part::ColumnSource(index))),
            DeclaredOrigin::Before(name) => Some((name.as_str(), Part::ColumnBefore(index))),
            DeclaredOrigin::Destination | DeclaredOrigin::Stamp | DeclaredOrigin::Action => None,
        };
        found.extend(source.and_then(|(name, part)| ident(name, part)));
        // A field without `source` and `column` has one name, and one mistake is enough.
        if source.is_none_or(|(name, _)| name != column.target) {
            found.extend(ident(&column.target, Part::ColumnTarget(index)));
        }
        if let Some(sql_type) = &column.sql_type
            && (sql_type.trim().is_empty() || sql_type.chars().any(char::is_control))
        {
            found.push(Violation::new(
                Rule::SqlTypeInvalid,
                [Part::ColumnSqlType(index)],
                format!(
                    "the SQL type of `{}` is empty or not printable",
                    column.field
                ),
            ));
        }
    }
    for (index, name) in declared.skips.iter().enumerate() {
        found.extend(ident(name, Part::Skip(index)));
    }
    for (index, name) in declared.sensitive.iter().enumerate() {
        found.extend(ident(name, Part::Sensitive(index)));
    }
}

pub(super) fn checkpoint(declared: &DeclaredCheckpoint, found: &mut Vec<Violation>) {
    if let Some(schema) = &declared.schema {
        found.extend(ident(schema, Part::CheckpointSchema));
        found.extend(reserved(schema, Part::CheckpointSchema));
    }
    if let Some(role) = &declared.select_grant {
        found.extend(ident(role, Part::SelectGrant));
    }
}

pub(super) fn sink(declared: &DeclaredSink, found: &mut Vec<Violation>) {
    if let Some(slot) = &declared.slot_name
        && check_slot_name(slot).is_err()
    {
        found.push(Violation::new(
            Rule::SlotNameInvalid,
            [Part::SlotName],
            format!("`{}` is not a replication slot name", shown(slot)),
        ));
    }
    for (index, name) in declared.ignored_sources.iter().enumerate() {
        if let Err(why) = QualifiedName::parse(name) {
            found.push(Violation::new(
                Rule::IgnoredSourceInvalid,
                [Part::IgnoredSource(index)],
                format!("`{}`: {why}", shown(name)),
            ));
        }
        if declared
            .ignored_sources
            .iter()
            .take(index)
            .any(|one| one == name)
        {
            found.push(Violation::new(
                Rule::IgnoredSourceRepeated,
                [Part::IgnoredSource(index)],
                format!("`{}` is ignored twice", shown(name)),
            ));
        }
    }
}

fn ident(name: &str, part: Part) -> Option<Violation> {
    let why: NotAnIdent = check_ident(name).err()?;
    Some(Violation::new(
        Rule::IdentifierInvalid,
        [part],
        format!("`{}`: {why}", shown(name)),
    ))
}

fn reserved(schema: &str, part: Part) -> Option<Violation> {
    let reserved = schema.starts_with("pg_") || schema == "information_schema";
    reserved.then(|| {
        Violation::new(
            Rule::SchemaReserved,
            [part],
            format!("the schema `{schema}` belongs to the server"),
        )
    })
}
