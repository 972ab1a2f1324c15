//! Does everything that is written belong to one shape? Options of a history, a log or a snapshot need what they are
//! about, and an auxiliary resource has no source to speak of.

use super::list::Rule;
use super::violation::{Part, Violation};
use crate::contract::declared::{
    DeclaredOrigin, DeclaredResource, DeclaredShape, DeclaredTenancy, Written,
};
use crate::contract::resource::OnTruncate;
use crate::contract::role::{Role, RoleOf};

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    conflict(declared, found);
    unused(declared, found);
    if declared.shape() == DeclaredShape::Auxiliary {
        auxiliary(declared, found);
    } else {
        truncate(declared, found);
    }
    before(declared, found);
}

// history_strategy = scd2, append_log
fn conflict(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let mut shapes = declared.shapes.iter().enumerate();
    let Some((first, one)) = shapes.next() else {
        return;
    };
    found.extend(shapes.map(|(index, other)| {
        Violation::new(
            Rule::ShapeConflict,
            [Part::Shape(index), Part::Shape(first)],
            format!(
                "`{}` would be {} and {}",
                declared.rust_name,
                one.as_str(),
                other.as_str()
            ),
        )
    }));
}

// append_slot_attribute = slot, on a mirror
fn unused(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let (history, append, provenance) = (&declared.history, &declared.append, &declared.provenance);
    let mut written: Vec<(RoleOf, &str, Part)> = Vec::new();
    let mut see = |of: RoleOf, is_written: bool, option: &'static str, part: Part| {
        if is_written {
            written.push((of, option, part));
        }
    };
    for (role, _) in &declared.roles {
        let option = role.option().unwrap_or_default();
        see(role.of(), true, option, Part::Role(*role));
    }
    let options = [
        (
            RoleOf::History,
            history.business_key.is_some(),
            "history_business_key",
            Part::BusinessKey,
        ),
        (
            RoleOf::History,
            history.close_action.is_some(),
            "history_close_action",
            Part::CloseAction,
        ),
        (
            RoleOf::AppendLog,
            append.action.is_some(),
            "append_action",
            Part::AppendAction,
        ),
        (
            RoleOf::AppendLog,
            append.identity.is_some(),
            "append_identity",
            Part::AppendIdentity,
        ),
        (
            RoleOf::Provenance,
            provenance.mark_action.is_some(),
            "snapshot_mark_action",
            Part::MarkAction,
        ),
        (
            RoleOf::Provenance,
            provenance.retire_action.is_some(),
            "snapshot_retire_action",
            Part::RetireAction,
        ),
        (
            RoleOf::Provenance,
            provenance.scopes.is_some(),
            "snapshot_scopes",
            Part::SnapshotScopes,
        ),
    ];
    for (of, is_written, option, part) in options {
        see(of, is_written, option, part);
    }
    for (of, option, part) in written {
        let asked = |shape: DeclaredShape| declared.shapes.contains(&shape);
        let (rule, what, is_used) = match of {
            RoleOf::History => (
                Rule::HistoryOptionUnused,
                "a history",
                asked(DeclaredShape::History),
            ),
            RoleOf::AppendLog => (
                Rule::AppendOptionUnused,
                "an append log",
                asked(DeclaredShape::AppendLog),
            ),
            RoleOf::Provenance => (
                Rule::SnapshotOptionUnused,
                "snapshot provenance",
                declared.has(of),
            ),
        };
        if is_used {
            continue;
        }
        found.push(Violation::new(
            rule,
            [part],
            format!(
                "`{option}` is about {what}, and `{}` declares none",
                declared.rust_name
            ),
        ));
    }
}

// auxiliary, source_table = "orders", skip(a), on_truncate = mirror
fn auxiliary(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let DeclaredTenancy {
        block: _,
        attribute,
        function,
    } = &declared.tenancy;
    let options = [
        (
            declared.source_schema.is_some(),
            "source_schema",
            Part::SourceSchema,
        ),
        (
            declared.source_table.is_some(),
            "source_table",
            Part::SourceTable,
        ),
        (
            declared.on_truncate.is_some(),
            "on_truncate",
            Part::OnTruncate,
        ),
        (
            declared.on_schema_change.is_some(),
            "on_schema_change",
            Part::OnSchemaChange,
        ),
        (
            attribute.is_some(),
            "tenant_attribute",
            Part::TenantAttribute,
        ),
        (function.is_some(), "tenant_fn", Part::TenantFunction),
        (
            declared.provenance.opted_in == Written::Yes,
            "snapshot_provenance",
            Part::Provenance,
        ),
        (!declared.skips.is_empty(), "skip", Part::Skip(0)),
        (
            !declared.sensitive.is_empty(),
            "sensitive",
            Part::Sensitive(0),
        ),
    ];
    let mut refuse = |option: &str, part: Part| {
        found.push(Violation::new(
            Rule::AuxiliarySource,
            [part],
            format!(
                "`{option}` is about a source, and `{}` has none",
                declared.rust_name
            ),
        ));
    };
    for (written, option, part) in options {
        if written {
            refuse(option, part);
        }
    }
    for (index, column) in declared.columns.iter().enumerate() {
        if column.source().is_some() {
            refuse("source", Part::ColumnSource(index));
        }
    }
}

// on_truncate = close, on a mirror; on_truncate = append, with a tenant
fn truncate(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let history = declared.has(RoleOf::History);
    let log = declared.has(RoleOf::AppendLog);
    let tenancy = &declared.tenancy;
    let tenanted = tenancy.attribute.is_some() || tenancy.function.is_some();
    let (rule, fact) = match declared.on_truncate {
        Some(OnTruncate::Close) if !history => (
            Rule::TruncateCloseWithoutHistory,
            "has no versions that a truncate could close",
        ),
        Some(OnTruncate::Append) if !log => (
            Rule::TruncateAppendWithoutLog,
            "is no log that could record a truncate",
        ),
        Some(OnTruncate::Mirror) if log => (
            Rule::TruncateOfLog,
            "is a log, and a truncate would delete its events",
        ),
        Some(OnTruncate::Append) if tenanted => (
            Rule::TruncateAppendOfTenant,
            "belongs to tenants, and a truncate tells none",
        ),
        Some(OnTruncate::Halt | OnTruncate::Mirror | OnTruncate::Close | OnTruncate::Append)
        | None => return,
    };
    found.push(Violation::new(
        rule,
        [Part::OnTruncate],
        format!("`{}` {fact}", declared.rust_name),
    ));
}

// #[replicant(before = amount)], on a mirror
fn before(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    if declared.has(RoleOf::AppendLog) {
        return;
    }
    for (index, column) in declared.columns.iter().enumerate() {
        // What the sink fills has a rule of its own.
        let stamped = declared.role_of(&column.field).is_some();
        if let DeclaredOrigin::Before(name) = &column.origin
            && !stamped
        {
            found.push(Violation::new(
                Rule::BeforeOutsideLog,
                [Part::ColumnBefore(index)],
                format!(
                    "`{}` would hold `{name}` as it was before a change, and only a log records changes",
                    column.field
                ),
            ));
        }
    }
}

/// The part that demands a role: the option that names its field, else what declares the whole.
pub(super) fn demand(declared: &DeclaredResource, role: Role) -> Part {
    if declared.written(role).is_some() {
        return Part::Role(role);
    }
    match role.of() {
        RoleOf::History => shape_part(declared, DeclaredShape::History),
        RoleOf::AppendLog => shape_part(declared, DeclaredShape::AppendLog),
        RoleOf::Provenance => Part::Provenance,
    }
}

/// The part that asked for a shape.
pub(super) fn shape_part(declared: &DeclaredResource, shape: DeclaredShape) -> Part {
    let position = declared.shapes.iter().position(|one| *one == shape);
    position.map_or(Part::Item, Part::Shape)
}
