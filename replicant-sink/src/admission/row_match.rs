//! By which index and operators is a destination row found, and may its changes be folded?

use replicant_checkpoint::contract::resource::{IdentityReach, Shape};
use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::source::TypeKind;

use super::builtin::oid;
use super::columns::AdmittedColumn;
use super::coverage::Mapped;
use super::facts::{Column, KeyPart, Table, UniqueIndex};
use super::{ddl, held};
use crate::error::Error;
use crate::generation::{Folding, KeyColumn, RowMatch, UpsertMeets};
use crate::reason::Reason;

/// How rows of one table are found.
#[derive(Debug)]
pub(super) struct Matched {
    pub(super) row_match: RowMatch,
    pub(super) folding: Folding,
    pub(super) upsert_meets: UpsertMeets,
}

/// Finds the unique index over exactly the key, or the comparison of whole rows for a table without a key.
pub(super) fn find(
    mapped: &Mapped<'_>,
    table: &Table,
    columns: &[AdmittedColumn<'_>],
    violations: &mut Vec<Error>,
) -> Option<Matched> {
    match mapped.spec.shape {
        Shape::History(_) => return held::match_versions(mapped, table, columns, violations),
        Shape::AppendLog(_) => return held::match_events(mapped, table, violations),
        Shape::Mirror | Shape::Auxiliary => {}
    }
    let mut key = mapped.key();
    if mapped.key_fields().is_empty() {
        // Rows are compared by their image, which every type has and which tells all values apart.
        return Some(Matched {
            row_match: RowMatch::WholeRow,
            folding: Folding::RowOrder,
            upsert_meets: UpsertMeets::Own,
        });
    }
    let tenant = tenant_beside(mapped);
    if tenant.is_some() {
        key = mapped.own_key();
    }
    let names: Vec<&Ident> = key
        .iter()
        .filter_map(|index| columns.get(*index))
        .map(|column| column.target.name())
        .collect();
    // Primary keys come first; a second index over the same columns is a conflict waiting to happen elsewhere.
    let Some(index) = table
        .unique
        .iter()
        .find(|index| index.findable && index.columns_are(&names))
    else {
        violations.push(missing(mapped, &names));
        return None;
    };
    Some(match tenant {
        None => matched(index, columns, None),
        Some(tenant) => Matched {
            upsert_meets: UpsertMeets::AnyTenants(tenant),
            ..matched(index, columns, Some(&tenant_part(tenant, table, columns)?))
        },
    })
}

/// The column that holds the tenant, where rows are found by an identity of all tenants, whose index does not name it.
fn tenant_beside(mapped: &Mapped<'_>) -> Option<usize> {
    let identity = mapped.spec.identity(mapped.spec.finding_identity()?)?;
    let tenant = mapped.tenant()?;
    let beside = identity.reach == IdentityReach::AllTenants && !mapped.own_key().contains(&tenant);
    beside.then_some(tenant)
}

/// How a column is compared that an index does not have: as another index does, or as the server's own types are.
fn tenant_part(tenant: usize, table: &Table, columns: &[AdmittedColumn<'_>]) -> Option<KeyPart> {
    let target = columns.get(tenant)?.target;
    let mut parts = table.unique.iter().flat_map(|index| &index.columns);
    let known = parts.find(|part| part.column == *target.name());
    Some(known.cloned().unwrap_or_else(|| KeyPart {
        column: target.name().clone(),
        equals: "OPERATOR(pg_catalog.=)".to_owned(),
        deterministic: target.deterministic,
    }))
}

/// How rows are found by the mapped columns of an index, and by one beside them.
pub(super) fn matched(
    index: &UniqueIndex,
    columns: &[AdmittedColumn<'_>],
    beside: Option<&KeyPart>,
) -> Matched {
    let parts: Vec<_> = beside
        .into_iter()
        .chain(&index.columns)
        .filter_map(|part| {
            let position = columns
                .iter()
                .position(|column| *column.target.name() == part.column)?;
            Some((position, part))
        })
        .collect();
    let folds = parts.iter().all(|(position, part)| {
        columns
            .get(*position)
            .is_some_and(|column| part.deterministic && equal_as_text(column.target))
    });
    Matched {
        row_match: RowMatch::Key(
            parts
                .into_iter()
                .map(|(column, part)| KeyColumn {
                    column,
                    equals: part.equals.clone(),
                })
                .collect(),
        ),
        folding: if folds {
            Folding::PerKey
        } else {
            Folding::RowOrder
        },
        upsert_meets: UpsertMeets::Own,
    }
}

/// Reports that no unique index serves.
pub(super) fn missing(mapped: &Mapped<'_>, names: &[&Ident]) -> Error {
    let fact = format!(
        "a deferrable constraint, a partial index or one over expressions does not serve: \
         {}",
        ddl::create_index(mapped, names, None)
    );
    Error::new(
        Reason::DestinationUniqueMissing,
        Site::table(&mapped.target).fact(fact),
    )
}

/// Are two values of the column equal exactly when their texts are? Only then may changes be keyed by text.
fn equal_as_text(column: &Column) -> bool {
    let ty = column.ty();
    match ty.base_oid {
        oid::BOOL
        | oid::BYTEA
        | oid::INT2
        | oid::INT4
        | oid::INT8
        | oid::DATE
        | oid::TIMESTAMP
        | oid::TIMESTAMPTZ
        | oid::UUID => true,
        oid::TEXT | oid::VARCHAR => column.deterministic,
        _ => ty.base_kind == TypeKind::Enum,
    }
}
