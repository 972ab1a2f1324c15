//! May this sink start? Everything that must hold between declaration, source and destination before the first row.
//!
//! ```text
//!  SinkSpec ─┐                 ┌─ publication ──────┐
//!  Session ──┴─► coverage ─────┼─ replica_identity ─┤
//!                   │          └─ pairs, builtin ────┼─► Generation, or every violation at once
//!  destination ─► catalog ─► facts ─► destination ──┤
//!                     tenants ─┘ └──► constraints ──┘
//! ```
//!
//! `declaration` and `availability` come before all that; `scope` says how rows belong to tenants, `tenants` which of
//! them have schemas of their own. Only `catalog` talks to a server, and only reads; everything else is a pure function of what was read. All
//! violations are collected in a stable order: an operator repairs a setup once, not once per mistake.

mod assemble;
mod auxiliary;
mod availability;
mod builtin;
mod catalog;
mod columns;
mod constraints;
mod coverage;
mod ddl;
mod declaration;
mod destination;
mod facts;
mod filled;
mod held;
mod hooks;
mod modifiers;
mod order;
mod pairs;
mod publication;
mod render;
mod replica_identity;
mod row_match;
mod scope;
mod tenants;
#[cfg(test)]
mod tests;
mod veil;

use std::fmt;

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::ident::Ident;
use replicant_transport::source::Session;

use crate::error::Error;
use crate::generation::Generation;
use crate::hooks::Code;

pub(crate) use availability::check as unavailable_options;
pub(crate) use declaration::{check as check_declaration, idle as idle_declaration};
pub(crate) use modifiers::numeric_digits;
pub use pairs::{fits_as_text, still_fits};
pub use tenants::LateTenants;
pub(crate) use tenants::existing_tables as tables_of_tenants;

/// What is asked for admission.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What was declared.
    pub spec: &'a SinkSpec,
    /// How the destination's constraints are meant to be handled.
    pub constraints: DestinationConstraints,
    /// In which form values may travel.
    pub values: Values,
    /// The functions that the declaration names.
    pub code: &'static [&'static [&'static Code]],
}

/// In which form values may travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Values {
    /// In binary where every mapped value has an exact binary form.
    #[default]
    Fastest,
    /// As text: rows of two types of one column are waiting.
    Text,
}

/// How the destination's constraints are meant to be handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum DestinationConstraints {
    /// The destination checks them; foreign keys are deferrable and checked at each commit.
    #[default]
    Deferred,
    /// The source enforced them: delivery runs as `session_replication_role = replica`.
    Trusted,
}

/// Why a sink may not start: at least one violation, in a stable order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    first: Error,
    rest: Vec<Error>,
}

impl Refused {
    /// The violation a pipeline halts with.
    pub fn first(&self) -> &Error {
        &self.first
    }

    /// The same, owned.
    pub fn into_first(self) -> Error {
        self.first
    }

    /// Every violation.
    pub fn iter(&self) -> impl Iterator<Item = &Error> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}

impl From<Error> for Refused {
    fn from(first: Error) -> Self {
        Self {
            first,
            rest: Vec::new(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.first, f)?;
        for error in &self.rest {
            write!(f, "\n{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// Compares declaration, source and destination and returns what delivery may rely on for this session.
///
/// The destination client's `search_path` is expected to be empty. Two round trips of catalog queries are made,
/// whatever the number of tables; nothing is written.
///
/// # Errors
/// Every violation found: the `source_…` and `destination_…` reasons, `publication_shape`, `type_pair_lossy`. A
/// declaration that breaks its own rules or asks for more than this release can do is all that is reported then
/// (`declaration_invalid`, `config_invalid` when there is nothing to do, `ignored_source_mapped`,
/// `destination_target_claimed`, `option_not_available`, `hook_code_missing`), and so is a destination that does not answer
/// (`destination_unreachable` and the like).
///
/// # Cancel safety
/// Dropping the future leaves nothing behind: only catalogs are read.
pub async fn admit(
    request: &Request<'_>,
    session: &Session,
    destination: &tokio_postgres::Client,
) -> Result<Generation, Refused> {
    let mut violations = Vec::new();
    declaration::check(request.spec, &mut violations);
    violations.extend(declaration::idle(request.spec));
    violations.extend(availability::check(request.spec));
    hooks::check(request, &mut violations);
    refused(std::mem::take(&mut violations))?;
    let mapping = coverage::map((request.spec, request.code), session, &mut violations);
    publication::check(session, &mapping, &mut violations);
    replica_identity::check(&mapping, &mut violations);
    let places = tenants::existing(destination, request.spec, &mapping).await?;
    let auxiliaries = auxiliary::declared(request.spec);
    let (fixed, mut fixed_targets) = (mapping.fixed(), mapping.fixed_targets());
    fixed_targets.extend(auxiliaries.iter().map(|auxiliary| &auxiliary.target));
    let of_tenants = places.iter().map(|place| &place.target);
    let targets: Vec<_> = fixed_targets.iter().copied().chain(of_tenants).collect();
    let facts = catalog::read(destination, &targets).await?;
    let own = facts.of_tables(&fixed_targets);
    let declared = (request.spec, &mapping);
    let other = |schema: &Ident| tenants::shown_as(&mapping, request.spec, schema);
    let seen = tenants::veil_of(&mapping, &places, &other).facts(&own);
    let tables = destination::check(&fixed, &seen, &mut violations);
    let auxiliaries = auxiliary::check(&auxiliaries, &seen, &mut violations);
    let mode = request.constraints;
    constraints::check(mode, &fixed_targets, &seen, &mut violations);
    let of_tenants = tenants::judge(mode, session, declared, places, &facts, &mut violations);
    refused(violations)?;
    let admitted = (&mapping, tables);
    let mut generation = assemble::generation(request, session, admitted, auxiliaries, &own);
    for one in of_tenants {
        if let Some(&stands_for) = generation.by_source.get(&one.table.source) {
            generation.add(stands_for, one.tenant, one.table);
        }
    }
    Ok(generation)
}

fn refused(violations: Vec<Error>) -> Result<(), Refused> {
    let mut violations = violations.into_iter();
    match violations.next() {
        None => Ok(()),
        Some(first) => Err(Refused {
            first,
            rest: violations.collect(),
        }),
    }
}
