//! Which unique indexes does a resource need beside its primary key?
//!
//! One for each declared identity; what its shape needs, unless an identity or the primary key is over the same
//! columns: a history tells versions apart and finds the open one, a log tells events apart, and a mirror whose rows are
//! found by a primary key that does not name the tenant finds them by both.

use replicant_checkpoint::contract::resource::{IdentityReach, IdentitySpec, ResourceSpec, Shape};
use replicant_transport::ident::{Ident, QualifiedName};

use super::model::{UniqueIndex, same_columns};
use super::names;
use super::table::{target, targets};

/// The indexes, identities first; `None` when a field has no column of that name.
pub(super) fn indexes(
    spec: &ResourceSpec,
    table: &QualifiedName,
    primary_key: &[Ident],
) -> Option<Vec<UniqueIndex>> {
    let mut found: Vec<UniqueIndex> = Vec::new();
    for identity in spec.identities {
        let columns = identity_columns(spec, identity)?;
        let predicate = identity.predicate.map(str::to_owned);
        add(
            &mut found,
            table,
            primary_key,
            identity.name,
            columns,
            predicate,
        );
    }
    match spec.shape {
        Shape::Mirror => {
            if spec.tenancy.finding_attribute().is_some() && spec.finding_identity().is_none() {
                let columns = with_tenant(spec, spec.primary_key)?;
                add(&mut found, table, primary_key, "tenant", columns, None);
            }
        }
        Shape::History(history) => {
            let key = with_tenant(spec, history.business_key)?;
            let from = target(spec, history.valid_from_lsn)?;
            let version = key.iter().cloned().chain([from]).collect();
            add(&mut found, table, primary_key, "version", version, None);
            let to = target(spec, history.valid_to_lsn)?;
            let open = format!("{} is null", to.quoted());
            add(&mut found, table, primary_key, "open", key, Some(open));
        }
        Shape::AppendLog(log) => {
            let axes = targets(spec, &log.axes())?;
            add(&mut found, table, primary_key, log.identity, axes, None);
        }
        Shape::Auxiliary => {}
    }
    Some(found)
}

/// The columns of an identity, the tenant's first where it is of one tenant.
fn identity_columns(spec: &ResourceSpec, identity: &IdentitySpec) -> Option<Vec<Ident>> {
    match identity.reach {
        IdentityReach::Tenant => with_tenant(spec, identity.keys),
        IdentityReach::AllTenants => targets(spec, identity.keys),
    }
}

fn with_tenant(spec: &ResourceSpec, fields: &[&str]) -> Option<Vec<Ident>> {
    let mut columns = targets(spec, fields)?;
    if let Some(tenant) = spec.tenancy.finding_attribute() {
        let tenant = target(spec, tenant)?;
        if !columns.contains(&tenant) {
            columns.insert(0, tenant);
        }
    }
    Some(columns)
}

fn add(
    found: &mut Vec<UniqueIndex>,
    table: &QualifiedName,
    primary_key: &[Ident],
    what: &str,
    columns: Vec<Ident>,
    predicate: Option<String>,
) {
    let covered = predicate.is_none()
        && (same_columns(primary_key, &columns) || found.iter().any(|one| one.covers(&columns)));
    let name = names::unique(table, what);
    let twice = found.iter().any(|one| one.name == name);
    if covered {
        return;
    }
    let name = match twice {
        // An identity may be called what a shape's own index is called.
        true => names::unique(table, &format!("{what}_{}", found.len())),
        false => name,
    };
    found.push(UniqueIndex {
        name,
        columns,
        predicate,
    });
}
