//! Can each column that the sink fills by itself hold what it will hold?

use replicant_checkpoint::contract::resource::{Nullability, Role};
use replicant_checkpoint::contract::role::Nulls;
use replicant_transport::error::Site;
use replicant_transport::source::Generated;

use super::builtin::oid;
use super::coverage::{Mapped, MappedStamp};
use super::facts::{Column, Table};
use super::{ddl, render};
use crate::error::Error;
use crate::reason::Reason;

/// Reports what is wrong with the columns of a history or a log that the sink fills.
pub(super) fn check(mapped: &Mapped<'_>, table: &Table, violations: &mut Vec<Error>) {
    for stamp in &mapped.stamps {
        let column = table
            .columns
            .iter()
            .find(|column| *column.name() == stamp.target);
        violations.extend(match column {
            None => Some(missing(mapped, stamp)),
            Some(column) => unfit(mapped, stamp, column),
        });
    }
}

/// `name type [not null]`, as a column definition has it.
pub(super) fn definition(stamp: &MappedStamp) -> String {
    let not_null = match (stamp.role.nulls(), stamp.spec.nullability) {
        (Nulls::Refused, _) | (Nulls::Either, Nullability::NotNull) => " not null",
        (Nulls::Needed, _) | (Nulls::Either, Nullability::Nullable) => "",
    };
    format!(
        "{} {}{not_null}",
        stamp.target.quoted(),
        type_name(stamp.role)
    )
}

fn missing(mapped: &Mapped<'_>, stamp: &MappedStamp) -> Error {
    let fact = format!(
        "alter table {} add column {}",
        mapped.target.quoted(),
        definition(stamp)
    );
    let site = Site::table(&mapped.target).column(&stamp.target).fact(fact);
    Error::new(Reason::DestinationColumnMissing, site)
}

fn unfit(mapped: &Mapped<'_>, stamp: &MappedStamp, column: &Column) -> Option<Error> {
    let (table, name) = (&mapped.target, column.name());
    let refuse = |reason, fact: String| {
        let site = Site::table(table).column(name).fact(fact);
        Some(Error::new(reason, site))
    };
    if !holds(stamp.role, column) {
        let wanted = type_name(stamp.role);
        let fact = format!(
            "the sink fills it with {wanted}, it is {}: {}",
            render::column_type(column.ty()),
            ddl::alter_column(table, name, &format!("type {wanted}"))
        );
        return refuse(Reason::TypePairLossy, fact);
    }
    match column.column.generated {
        Generated::No => {}
        Generated::Expression => {
            let fact = ddl::replace_column(table, name, column.ty());
            return refuse(Reason::DestinationGeneratedColumn, fact);
        }
        Generated::IdentityAlways | Generated::IdentityByDefault => {
            let fact = ddl::alter_column(table, name, "drop identity");
            return refuse(Reason::DestinationGeneratedColumn, fact);
        }
    }
    if column.column.not_null && stamp.role.nulls() == Nulls::Needed {
        let fact = ddl::alter_column(table, name, "drop not null");
        return refuse(Reason::DestinationNullability, fact);
    }
    None
}

fn type_name(role: Role) -> &'static str {
    match role {
        Role::ValidFromLsn | Role::ValidToLsn | Role::CommitLsn | Role::Ordinal | Role::Xid => {
            "bigint"
        }
        Role::ValidFrom | Role::ValidTo | Role::CommitTimestamp => "timestamptz",
        Role::Current => "boolean",
        Role::SourceSystem
        | Role::SourceDatabase
        | Role::Slot
        | Role::Operation
        | Role::Origin
        | Role::MessagePrefix => "text",
        Role::Attempt | Role::MessageContent | Role::Fingerprint | Role::SeenAttempt => "bytea",
        Role::Unchanged => "text[]",
    }
}

/// Is it of that type, without a modifier that would shorten or round?
fn holds(role: Role, column: &Column) -> bool {
    let ty = column.ty();
    let types: &[u32] = match type_name(role) {
        "bigint" => &[oid::INT8],
        "timestamptz" => &[oid::TIMESTAMPTZ],
        "boolean" => &[oid::BOOL],
        "text" => &[oid::TEXT, oid::VARCHAR],
        "bytea" => &[oid::BYTEA],
        _ => &[oid::TEXT_ARRAY],
    };
    types.contains(&ty.base_oid) && ty.modifier == -1
}
