//! Why pieces were not applied: what the destination said, reduced to what is safe to keep, or a reason to stop.

use replicant_checkpoint::store::Fault;
use replicant_transport::connect::Claims;
use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;

use crate::error::Error;
use crate::generation::{Constraints, Generation, Table};

/// Why pieces were not applied. The destination transaction must be rolled back in every case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The destination answered with an error, or not at all.
    Database {
        /// What the server's condition code means.
        fault: Fault,
        /// The destination table of the statement, from the plan, and what of it the server named, as far as
        /// admission knows that name.
        site: Box<Site>,
    },
    /// The same of a unique value that another tenant's row has.
    AcrossTenants {
        /// What the server's condition code means.
        fault: Fault,
        /// The destination table and the unique index that does not name the tenant.
        site: Box<Site>,
    },
    /// Going on would be a guess, or a policy says stop.
    Stop(Error),
}

impl Failure {
    /// Keeps the meaning of a client error and nothing else of it.
    pub(crate) fn of(error: &tokio_postgres::Error, table: Option<&Table>) -> Self {
        let (fault, claims) = (Fault::of(error), Claims::of(error));
        let Some(table) = table else {
            let site = Box::new(Site::none());
            return Self::Database { fault, site };
        };
        let site = Box::new(named(table, &claims));
        match is_unique(fault) && is_across_tenants(table, &claims) {
            true => Self::AcrossTenants { fault, site },
            false => Self::Database { fault, site },
        }
    }

    /// A statement that could not be written down, or an answer that could not be understood.
    pub(crate) fn internal(table: &QualifiedName) -> Self {
        Self::Database {
            fault: Fault::Refused(None),
            site: Box::new(Site::table(table)),
        }
    }

    /// Is it a unique or exclusion conflict, which another way of writing may avoid?
    pub(crate) fn is_conflict(&self) -> bool {
        match self {
            Self::Database { fault, .. } => is_unique(*fault),
            Self::AcrossTenants { .. } => true,
            Self::Stop(_) => false,
        }
    }
}

fn is_unique(fault: Fault) -> bool {
    let state = fault.sqlstate();
    state.is_some_and(|state| matches!(state.as_str(), "23505" | "23P01"))
}

/// Is it about an index of the table that does not name the tenant?
fn is_across_tenants(table: &Table, claims: &Claims) -> bool {
    claims.constraint_among(&table.across_tenants).is_some()
}

/// The table, and the column or constraint of it that an error is about.
fn named(table: &Table, claims: &Claims) -> Site {
    let mut site = table.site();
    if let Some(column) = claims.column_among(table.columns.iter().map(|column| &column.target)) {
        site = site.column(column);
    }
    if let Some(constraint) = claims.constraint_among(&table.constraints) {
        site = site.fact(format!("constraint {}", constraint.quoted()));
    }
    site
}

/// What a refused COMMIT is about: deferred constraints speak last, and belong to no one statement.
pub(crate) fn at_commit(generation: &Generation, claims: &Claims) -> Site {
    let tables = || generation.written();
    let table = at_fault(generation, claims);
    let foreign_keys = match &generation.constraints {
        Constraints::Deferred { foreign_keys, .. } => foreign_keys.as_slice(),
        Constraints::Trusted => &[],
    };
    // Of those in a tenant's schema only what the table has kept may be named.
    let is_shared = |key: &&QualifiedName| {
        let mut of_tenants = tables().filter(|table| table.is_of_one_tenant());
        !of_tenants.any(|table| table.target.schema == key.schema)
    };
    let shared = foreign_keys.iter().filter(is_shared).map(|key| &key.name);
    let known = tables().flat_map(|table| &table.constraints).chain(shared);
    let fact = match claims.constraint_among(known) {
        Some(constraint) => format!("at COMMIT, constraint {}", constraint.quoted()),
        None => "at COMMIT".to_owned(),
    };
    table.map_or_else(Site::none, Table::site).fact(fact)
}

/// Does a COMMIT fail on a unique value that another tenant's row has?
pub(crate) fn across_tenants_at_commit(
    generation: &Generation,
    fault: Fault,
    claims: &Claims,
) -> bool {
    let table = at_fault(generation, claims);
    is_unique(fault) && table.is_some_and(|table| is_across_tenants(table, claims))
}

fn at_fault<'g>(generation: &'g Generation, claims: &Claims) -> Option<&'g Table> {
    let mut tables = generation.written();
    let claimed = tables.find(|table| claims.table_among([&table.target]).is_some());
    // A partition's constraint is not in the table's own name.
    claimed.or_else(|| {
        let mut tables = generation.written();
        tables.find(|table| claims.constraint_among(&table.constraints).is_some())
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stop(error)
    }
}
