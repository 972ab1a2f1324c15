//! What does one resource ask of its destination table?

use replicant_checkpoint::contract::provenance;
use replicant_checkpoint::contract::resource::{
    ColumnSpec, Nullability, OnTruncate, Origin, Protection, ResourceSpec, Role, Shape, Storage,
};
use replicant_checkpoint::contract::role::Nulls as RoleNulls;
use replicant_transport::ident::{Ident, QualifiedName};

use super::model::{Column, Filled, MadeBy, Nulls, Table};
use super::place::Home;
use super::{sql_type, unique};

/// What is known of a mirrored column beside its declaration.
pub(crate) struct Known {
    /// The type a destination column of it would have.
    pub(crate) sql_type: String,
    /// Whether NULL arrives.
    pub(crate) nulls: Nulls,
}

/// Why the declaration does not say enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unsaid {
    /// Nothing tells the type of this field's column.
    Type(&'static ColumnSpec),
    /// Nothing tells how the destination makes this field's value.
    Default(&'static ColumnSpec),
    /// A name is no PostgreSQL identifier.
    Name,
}

/// Everything that the resource asks for; `known` tells what a mirrored column is like, if anything does.
pub(crate) fn table(
    spec: &'static ResourceSpec,
    made_by: MadeBy,
    known: &dyn Fn(&'static ColumnSpec) -> Option<Known>,
) -> Result<Table, Unsaid> {
    let (home, name) = name(spec).ok_or(Unsaid::Name)?;
    let made = |column: &&'static ColumnSpec| match made_by {
        MadeBy::Migrations => true,
        MadeBy::Host => spec.role_of(column.field).is_some_and(is_provenance),
    };
    let columns = spec.columns.iter().filter(made);
    let columns: Vec<Column> = columns
        .map(|column| self::column(spec, column, known))
        .collect::<Result<_, _>>()?;
    let primary_key = targets(spec, spec.primary_key).ok_or(Unsaid::Name)?;
    let unique = unique::indexes(spec, &name, &primary_key).ok_or(Unsaid::Name)?;
    Ok(Table {
        name,
        home,
        made_by,
        columns,
        primary_key: match made_by {
            MadeBy::Migrations => primary_key,
            MadeBy::Host => Vec::new(),
        },
        unique,
    })
}

/// Where the resource's table is, and what it is called there.
pub(super) fn name(spec: &ResourceSpec) -> Option<(Home, QualifiedName)> {
    let (home, schema) = match spec.schema_of_tenants() {
        Some(template) => (Home::EachTenant, template),
        None => (Home::Fixed, spec.target.schema),
    };
    let name = QualifiedName::new(schema, spec.target.table).ok()?;
    Some((home, name))
}

/// What one field asks for.
pub(crate) fn column(
    spec: &'static ResourceSpec,
    column: &'static ColumnSpec,
    known: &dyn Fn(&'static ColumnSpec) -> Option<Known>,
) -> Result<Column, Unsaid> {
    let name = Ident::new(column.target).map_err(|_| Unsaid::Name)?;
    let role = spec.role_of(column.field);
    let (sql_type, filled, nulls) = match (column.origin, role) {
        (Origin::Destination, _) => {
            let (sql_type, filled) = generated(column)?;
            (sql_type, filled, Nulls::Allowed)
        }
        (Origin::Stamp, Some(role)) => (
            column
                .sql_type
                .unwrap_or(sql_type::of_role(role))
                .to_owned(),
            Filled::Written,
            stamp_nulls(role, column.nullability),
        ),
        (Origin::Source(_) | Origin::Before(_) | Origin::Stamp | Origin::Action, _) => {
            let known = known(column).ok_or(Unsaid::Type(column))?;
            let nulls = match has_no_row(spec, column) {
                true => Nulls::Allowed,
                false => known.nulls,
            };
            (known.sql_type, Filled::Written, nulls)
        }
    };
    Ok(Column {
        name,
        sql_type,
        filled,
        nulls,
        source: column.origin.source().map(str::to_owned),
    })
}

/// What the declaration alone tells of a column.
pub(crate) fn declared(column: &'static ColumnSpec) -> Option<Known> {
    let sql_type = match (column.protection, column.sql_type) {
        (Protection::Sealed, _) => "bytea",
        (Protection::Plain, Some(declared)) => declared,
        (Protection::Plain, None) => sql_type::of_storage(column.storage)?,
    };
    Some(Known {
        sql_type: sql_type.to_owned(),
        nulls: match column.nullability {
            Nullability::Nullable => Nulls::Allowed,
            Nullability::NotNull => Nulls::Refused,
        },
    })
}

/// The destination columns of these fields.
pub(super) fn targets(spec: &ResourceSpec, fields: &[&str]) -> Option<Vec<Ident>> {
    fields.iter().map(|field| target(spec, field)).collect()
}

/// The destination column of this field.
pub(super) fn target(spec: &ResourceSpec, field: &str) -> Option<Ident> {
    Ident::new(spec.column(field)?.target).ok()
}

fn is_provenance(role: Role) -> bool {
    provenance::ROLES.iter().any(|(one, _)| *one == role)
}

/// A field that the destination fills: a number, a random UUID, or whatever `sql_type` says.
fn generated(column: &'static ColumnSpec) -> Result<(String, Filled), Unsaid> {
    if let Some(declared) = column.sql_type {
        return Ok((declared.to_owned(), Filled::Written));
    }
    let filled = match column.storage {
        Storage::Int2 | Storage::Int4 | Storage::Int8 => Filled::Identity,
        Storage::Uuid => Filled::RandomUuid,
        _ => return Err(Unsaid::Default(column)),
    };
    let sql_type = sql_type::of_storage(column.storage).ok_or(Unsaid::Default(column))?;
    Ok((sql_type.to_owned(), filled))
}

fn stamp_nulls(role: Role, declared: Nullability) -> Nulls {
    match (role.nulls(), declared) {
        (RoleNulls::Refused, _) | (RoleNulls::Either, Nullability::NotNull) => Nulls::Refused,
        (RoleNulls::Needed, _) | (RoleNulls::Either, Nullability::Nullable) => Nulls::Allowed,
    }
}

/// Are there events without a value of it: an inserted row has no image before it, a truncate no row, and neither has
/// a message?
fn has_no_row(spec: &ResourceSpec, column: &ColumnSpec) -> bool {
    let tells_messages = matches!(
        spec.shape,
        Shape::AppendLog(log) if log.message_prefix.is_some() || log.message_content.is_some()
    );
    matches!(column.origin, Origin::Before(_))
        || spec.on_truncate == OnTruncate::Append
        || tells_messages
}
