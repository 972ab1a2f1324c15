//! Can each column that the sink fills by itself hold what it will hold?

use replicant_checkpoint::contract::resource::Role;
use replicant_checkpoint::contract::role::Nulls;
use replicant_transport::error::Site;
use replicant_transport::source::Generated;

use super::builtin::oid;
use super::coverage::{Mapped, MappedStamp};
use super::facts::{Column, Table};
use super::{ddl, render};
use crate::ddl::sql_type::of_role;
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

fn missing(mapped: &Mapped<'_>, stamp: &MappedStamp) -> Error {
    let mut site = Site::table(&mapped.target).column(&stamp.target);
    site.fact = ddl::stamp(mapped, stamp);
    Error::new(Reason::DestinationColumnMissing, site)
}

fn unfit(mapped: &Mapped<'_>, stamp: &MappedStamp, column: &Column) -> Option<Error> {
    let (table, name) = (&mapped.target, column.name());
    let refuse = |reason, fact: String| {
        let site = Site::table(table).column(name).fact(fact);
        Some(Error::new(reason, site))
    };
    if !holds(stamp.role, column) {
        let wanted = of_role(stamp.role);
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

/// Is it of that type, without a modifier that would shorten or round?
fn holds(role: Role, column: &Column) -> bool {
    let ty = column.ty();
    let types: &[u32] = match of_role(role) {
        "bigint" => &[oid::INT8],
        "timestamptz" => &[oid::TIMESTAMPTZ],
        "boolean" => &[oid::BOOL],
        "text" => &[oid::TEXT, oid::VARCHAR],
        "bytea" => &[oid::BYTEA],
        _ => &[oid::TEXT_ARRAY],
    };
    types.contains(&ty.base_oid) && ty.modifier == -1
}
