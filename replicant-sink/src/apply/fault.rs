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
    /// Going on would be a guess, or a policy says stop.
    Stop(Error),
}

impl Failure {
    /// Keeps the meaning of a client error and nothing else of it.
    pub(crate) fn of(error: &tokio_postgres::Error, table: Option<&Table>) -> Self {
        let site = table.map_or_else(Site::none, |table| named(table, &Claims::of(error)));
        Self::Database {
            fault: Fault::of(error),
            site: Box::new(site),
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
        let Self::Database { fault, .. } = self else {
            return false;
        };
        let state = fault.sqlstate();
        state.is_some_and(|state| matches!(state.as_str(), "23505" | "23P01"))
    }
}

/// The table, and the column or constraint of it that an error is about.
fn named(table: &Table, claims: &Claims) -> Site {
    let mut site = Site::table(&table.target);
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
    let table = claims
        .table_among(tables().map(|table| &table.target))
        // A partition's constraint is not in the table's own name.
        .or_else(|| {
            let knows = |table: &&Table| claims.constraint_among(&table.constraints).is_some();
            tables().find(knows).map(|table| &table.target)
        });
    let foreign_keys = match &generation.constraints {
        Constraints::Deferred { foreign_keys, .. } => foreign_keys.as_slice(),
        Constraints::Trusted => &[],
    };
    let known = tables()
        .flat_map(|table| &table.constraints)
        .chain(foreign_keys.iter().map(|key| &key.name));
    let fact = match claims.constraint_among(known) {
        Some(constraint) => format!("at COMMIT, constraint {}", constraint.quoted()),
        None => "at COMMIT".to_owned(),
    };
    table.map_or_else(Site::none, Site::table).fact(fact)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stop(error)
    }
}
