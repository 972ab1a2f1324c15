//! Can the tables that hooks alone write take what their actions write, as this role, in this session?

use std::sync::Arc;

use replicant_checkpoint::contract::message::OPERATION_KEY_FIELD;
use replicant_checkpoint::contract::resource::{
    ActionKind, ColumnSpec, IdentityReach, Nullability, Origin, Protection, ResourceSpec, Tenancy,
    TenancyStrategy, Visibility,
};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::source::Generated;

use super::builtin::{oid, promise_holds, promise_name};
use super::destination::{check_privileges, check_row_security, wrong_kind};
use super::facts::{Column, Facts, Table};
use super::{ddl, render};
use crate::error::Error;
use crate::generation::{
    self, Conversion, DeleteAndReinsert, Folding, Held, Image, KeyColumn, RowMatch, Travel,
    UpsertMeets,
};
use crate::reason::Reason;
use crate::scope::{KeptBy, Scope, ToldBy};
use crate::seal::Seals;

/// An auxiliary resource and its table.
pub(super) struct Declared {
    spec: &'static ResourceSpec,
    pub(super) target: QualifiedName,
}

/// Every auxiliary resource, in declaration order. Names were checked with the declaration.
pub(super) fn declared(spec: &SinkSpec) -> Vec<Declared> {
    let auxiliaries = spec.resources().filter(|resource| !resource.is_mapped());
    auxiliaries
        .filter_map(|spec| {
            let target = QualifiedName::new(spec.target.schema, spec.target.table).ok()?;
            Some(Declared { spec, target })
        })
        .collect()
}

/// Reports what is wrong with the tables; returns those that passed.
pub(super) fn check(
    declared: &[Declared],
    facts: &Facts,
    violations: &mut Vec<Error>,
) -> Vec<generation::Table> {
    declared
        .iter()
        .filter_map(|declared| table(declared, facts, violations))
        .collect()
}

fn table(
    declared: &Declared,
    facts: &Facts,
    violations: &mut Vec<Error>,
) -> Option<generation::Table> {
    let (spec, target) = (declared.spec, &declared.target);
    let Some(found) = facts.table(target) else {
        let mut site = Site::table(target);
        site.fact = ddl::declared_table(spec);
        violations.push(Error::new(Reason::DestinationTableMissing, site));
        return None;
    };
    if let Some(fact) = wrong_kind(found) {
        let site = Site::table(target).fact(fact);
        violations.push(Error::new(Reason::DestinationTableKind, site));
        return None;
    }
    let mut needed = found.clone();
    let needs = privileges(spec);
    needed.privileges_missing.retain(|one| needs.contains(one));
    check_privileges(&needed, &facts.server, violations);
    check_row_security(found, violations);
    check_others(declared, found, violations);
    let columns: Vec<generation::Column> = spec
        .columns
        .iter()
        .filter_map(|column| self::column(declared, column, found, facts, violations))
        .collect();
    // A key over columns that do not exist is the same mistake twice.
    if columns.len() < spec.columns.len() {
        return None;
    }
    let (row_match, upsert_meets) = row_match(declared, &columns, found, violations)?;
    let specs: Vec<_> = columns.iter().map(|column| column.spec).collect();
    // A row has the tenant of the change that made it, which is given like its other values.
    let tenant = tenant_column(spec, &columns);
    let scope = tenant.map(|column| Scope {
        told_by: ToldBy::Column(column),
        kept_by: KeptBy::Column(column),
    });
    let seals = Arc::new(Seals::of(spec, &specs, scope.as_ref()));
    let tenant = tenant.and_then(|tenant| columns.get(tenant));
    let across_tenants = tenant.map_or_else(Vec::new, |tenant| found.without(&tenant.target));
    Some(generation::Table {
        spec,
        source: target.clone(),
        source_oid: 0,
        target: target.clone(),
        shown: target.clone(),
        scope,
        constraints: found.constraints.clone(),
        across_tenants,
        deferred: Vec::new(),
        columns,
        row_match,
        upsert_meets,
        folding: Folding::RowOrder,
        overriding_system_value: false,
        delete_and_reinsert: DeleteAndReinsert::Forbidden,
        held: Held::Mirror,
        seals,
    })
}

/// What its actions need; a row that is looked for is read.
fn privileges(spec: &ResourceSpec) -> Vec<&'static str> {
    let mut needs = Vec::new();
    for action in spec.actions {
        needs.extend(match action.kind {
            ActionKind::Read => ["select"].as_slice(),
            ActionKind::Create if spec.upsert_identity.is_some() => &["insert", "select", "update"],
            ActionKind::Create => &["insert"],
            ActionKind::Update => &["update", "select"],
            ActionKind::Destroy => &["delete", "select"],
        });
    }
    needs
}

/// A field whose value nobody gives: the destination makes it, or it is private.
fn fills_itself(column: &ColumnSpec) -> bool {
    let kept = column.field == OPERATION_KEY_FIELD;
    column.origin == Origin::Destination || (column.visibility == Visibility::Private && !kept)
}

fn has_value(column: &Column) -> bool {
    column.has_default || column.column.generated != Generated::No
}

fn column(
    declared: &Declared,
    spec: &'static ColumnSpec,
    table: &Table,
    facts: &Facts,
    violations: &mut Vec<Error>,
) -> Option<generation::Column> {
    let target = &declared.target;
    let name = Ident::new(spec.target).ok()?;
    let site = || Site::table(target).column(&name);
    let Some(found) = table.columns.iter().find(|one| *one.name() == name) else {
        let mut site = site();
        site.fact = ddl::declared_column(declared.spec, spec);
        violations.push(Error::new(Reason::DestinationColumnMissing, site));
        return None;
    };
    let mut refuse = |reason: Reason, fact: String| {
        violations.push(Error::new(reason, site().fact(fact)));
    };
    if fills_itself(spec) {
        if found.column.not_null && !has_value(found) {
            let integer = [oid::INT2, oid::INT4, oid::INT8].contains(&found.ty().base_oid);
            let change = match integer && spec.origin == Origin::Destination {
                true => "add generated by default as identity",
                false => "drop not null",
            };
            let fact = ddl::alter_column(target, &name, change);
            refuse(
                Reason::DestinationColumnUnfilled,
                format!("nothing gives the field a value, and the column has no default: {fact}"),
            );
        }
    } else {
        let fact = match found.column.generated {
            Generated::Expression => Some(ddl::replace_column(target, &name, found.ty())),
            Generated::IdentityAlways => {
                Some(ddl::alter_column(target, &name, "set generated by default"))
            }
            Generated::No | Generated::IdentityByDefault => None,
        };
        if let Some(fact) = fact {
            refuse(Reason::DestinationGeneratedColumn, fact);
        }
        if spec.nullability == Nullability::Nullable && found.column.not_null {
            let fact = ddl::alter_column(target, &name, "drop not null");
            refuse(
                Reason::DestinationNullability,
                format!("the field may be NULL: {fact}"),
            );
        }
    }
    let sealed = spec.protection == Protection::Sealed;
    let cast = facts.read_text(found.ty());
    if sealed && found.ty().base_oid != oid::BYTEA {
        let alter = ddl::alter_column(target, &name, "type bytea using null");
        refuse(
            Reason::TypePairLossy,
            format!("a sealed value is bytea: {alter}"),
        );
    } else if !sealed && !promise_holds(spec.storage, found.ty()) {
        refuse(
            Reason::TypePairLossy,
            format!(
                "the field holds {}, the column is {} {}",
                promise_name(spec.storage),
                render::kind(found.ty()),
                render::column_type(found.ty())
            ),
        );
    } else if !sealed && cast.is_none() {
        let ty = found.ty().base_name.quoted();
        refuse(
            Reason::TypePairLossy,
            format!("a declared cast decides what text becomes: drop cast (text as {ty})"),
        );
    }
    let travel = match sealed {
        true => Travel::Sealed,
        false => Travel::Text {
            cast: cast.unwrap_or_else(|| Conversion::Cast(render::base_type(found.ty()))),
        },
    };
    Some(generation::Column {
        spec,
        source: name.clone(),
        formerly: Vec::new(),
        source_attnum: 0,
        source_type: found.ty().clone(),
        target: name,
        target_type: found.ty().clone(),
        target_identity: false,
        image: Image::Row,
        travel,
    })
}

/// A column that no field fills needs a value of its own.
fn check_others(declared: &Declared, table: &Table, violations: &mut Vec<Error>) {
    for column in &table.columns {
        let name = column.name();
        let mut fields = declared.spec.columns.iter();
        let known = fields.any(|field| field.target == name.as_str());
        if !known && column.column.not_null && !has_value(column) {
            let fact = ddl::alter_column(&declared.target, name, "drop not null");
            let site = Site::table(&declared.target).column(name).fact(fact);
            violations.push(Error::new(Reason::DestinationColumnUnfilled, site));
        }
    }
}

/// By which unique index is a row found? Whoever updates, removes, reads or replaces one has to say which.
fn row_match(
    declared: &Declared,
    columns: &[generation::Column],
    table: &Table,
    violations: &mut Vec<Error>,
) -> Option<(RowMatch, UpsertMeets)> {
    let fields = declared.spec.key_fields();
    if fields.is_empty() {
        return Some((RowMatch::WholeRow, UpsertMeets::Own));
    }
    let tenant = tenant_column(declared.spec, columns);
    let prefixed = declared.spec.finding_identity().is_some_and(|name| {
        let identity = declared.spec.identity(name);
        identity.is_some_and(|identity| identity.reach == IdentityReach::Tenant)
    });
    let named = fields
        .iter()
        .filter_map(|field| columns.iter().find(|column| column.spec.field == *field));
    let of_tenant = tenant.and_then(|tenant| columns.get(tenant));
    let names: Vec<&Ident> = named
        .chain(of_tenant.filter(|_| prefixed))
        .map(|column| &column.target)
        .collect();
    let mut unique = table.unique.iter();
    let Some(index) = unique.find(|index| index.findable && index.columns_are(&names)) else {
        let fact = format!(
            "create unique index on {} ({})",
            declared.target.quoted(),
            ddl::list(names.iter().copied())
        );
        let site = Site::table(&declared.target).fact(fact);
        violations.push(Error::new(Reason::DestinationUniqueMissing, site));
        return None;
    };
    let parts = index.columns.iter().filter_map(|part| {
        let column = columns.iter().position(|one| one.target == part.column)?;
        Some(KeyColumn {
            column,
            equals: part.equals.clone(),
        })
    });
    let mut key: Vec<KeyColumn> = parts.collect();
    // Whatever finds a row, another tenant's it is not.
    let mut meets = UpsertMeets::Own;
    if let Some(column) = tenant
        && key.iter().all(|part| part.column != column)
    {
        key.push(KeyColumn {
            column,
            equals: "OPERATOR(pg_catalog.=)".to_owned(),
        });
        meets = UpsertMeets::AnyTenants(column);
    }
    Some((RowMatch::Key(key), meets))
}

/// The column that holds the tenant.
fn tenant_column(spec: &ResourceSpec, columns: &[generation::Column]) -> Option<usize> {
    let Tenancy::Tenanted {
        strategy: TenancyStrategy::Attribute(holder),
        ..
    } = spec.tenancy
    else {
        return None;
    };
    columns
        .iter()
        .position(|column| column.spec.field == holder)
}
