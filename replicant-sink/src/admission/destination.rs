//! Can the destination's tables take the mapped rows, as this role, in this session?

use replicant_transport::error::Site;
use replicant_transport::source::TableKind;

use super::columns::{self, AdmittedColumn};
use super::coverage::Mapped;
use super::ddl;
use super::facts::{Facts, Server, Table};
use super::row_match::{self, Matched};
use crate::error::Error;
use crate::reason::Reason;

/// One table, both sides, as far as it passed.
pub(super) struct Admitted<'a> {
    pub(super) mapped: &'a Mapped<'a>,
    pub(super) facts: &'a Table,
    /// In declaration order.
    pub(super) columns: Vec<AdmittedColumn<'a>>,
    pub(super) matched: Matched,
}

/// Reports what is wrong with the session and with these tables; returns those that passed, in the same order.
pub(super) fn check<'a>(
    tables: &[&'a Mapped<'a>],
    facts: &'a Facts,
    violations: &mut Vec<Error>,
) -> Vec<Admitted<'a>> {
    check_writable(&facts.server, violations);
    let mut admitted = Vec::with_capacity(tables.len());
    for mapped in tables {
        admitted.extend(table(mapped, facts, violations));
    }
    admitted
}

fn check_writable(server: &Server, violations: &mut Vec<Error>) {
    if server.in_recovery {
        let site = Site::none().fact("the destination is a standby");
        violations.push(Error::new(Reason::DestinationReadOnly, site));
    } else if server.default_read_only {
        let fact = format!(
            "alter role {} set default_transaction_read_only = off",
            server.role.quoted()
        );
        violations.push(Error::new(
            Reason::DestinationReadOnly,
            Site::none().fact(fact),
        ));
    }
}

/// The table as it is admitted, unless something is wrong with it.
pub(super) fn table<'a>(
    mapped: &'a Mapped<'a>,
    facts: &'a Facts,
    violations: &mut Vec<Error>,
) -> Option<Admitted<'a>> {
    let Some(found) = facts.table(&mapped.target) else {
        let mut site = Site::table(&mapped.target);
        site.fact = ddl::create_table(mapped);
        violations.push(Error::new(Reason::DestinationTableMissing, site));
        return None;
    };
    if let Some(fact) = wrong_kind(found) {
        let site = Site::table(&found.name).fact(fact);
        violations.push(Error::new(Reason::DestinationTableKind, site));
        return None;
    }
    check_privileges(found, &facts.server, violations);
    check_row_security(found, violations);
    let columns = columns::check(mapped, found, facts, violations);
    // An identity over columns that do not exist is the same mistake twice.
    let matched = if columns.len() == mapped.columns.len() {
        row_match::find(mapped, found, &columns, violations)
    } else {
        None
    };
    Some(Admitted {
        mapped,
        facts: found,
        columns,
        matched: matched?,
    })
}

pub(super) fn wrong_kind(table: &Table) -> Option<&'static str> {
    match table.kind {
        TableKind::Other => Some("it is a view, a foreign table, a sequence or the like"),
        TableKind::Table | TableKind::Partitioned if table.has_children => {
            Some("other tables inherit from it, and every update would reach their rows too")
        }
        TableKind::Table | TableKind::Partitioned => None,
    }
}

pub(super) fn check_privileges(table: &Table, server: &Server, violations: &mut Vec<Error>) {
    let role = server.role.quoted();
    let mut missing = Vec::new();
    if !table.schema_usable {
        missing.push(format!(
            "grant usage on schema {} to {role}",
            table.name.schema.quoted()
        ));
    }
    if !table.privileges_missing.is_empty() {
        missing.push(format!(
            "grant {} on table {} to {role}",
            table.privileges_missing.join(", "),
            table.name.quoted()
        ));
    }
    if !missing.is_empty() {
        let site = Site::table(&table.name).fact(missing.join("; "));
        violations.push(Error::new(Reason::DestinationPrivilege, site));
    }
}

pub(super) fn check_row_security(table: &Table, violations: &mut Vec<Error>) {
    if table.row_security_applies {
        let fact = format!(
            "alter table {} disable row level security",
            table.name.quoted()
        );
        violations.push(Error::new(
            Reason::DestinationRowSecurity,
            Site::table(&table.name).fact(fact),
        ));
    }
}
