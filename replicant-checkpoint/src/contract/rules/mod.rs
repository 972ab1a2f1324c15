//! What makes a declaration legal.
//!
//! Two families: the functions of [`names`] judge what was written and are run by the macros, by tests and by
//! admission; [`types`] judges what the Rust types promise, which the macros leave to the compiler. Relations
//! between resources of one sink are in [`relations`].
//!
//! A rule is one entry of [`Rule`], one function here, and two compile tests.

#[macro_use]
mod rule;

mod actions;
mod append;
mod columns;
pub mod elsewhere;
mod history;
mod hooks;
mod identifiers;
mod identities;
mod list;
mod messages;
pub mod promises;
mod provenance;
mod roles;
mod sealing;
mod shapes;
mod tenancy;
mod violation;
mod wording;

pub use list::Rule;
pub use promises::types;
pub use rule::Rung;
pub use violation::{Part, Violation};

use super::declared::DeclaredResource;
use super::relations;
use super::resource::ResourceSpec;
use super::sink::SinkSpec;

/// Rules about names: everything that can be judged before the types are known.
pub mod names {
    use super::violation::without_consequences;
    use super::{
        Part, Rule, Violation, actions, append, columns, history, hooks, identifiers, identities,
        messages, provenance, roles, sealing, shapes, tenancy,
    };
    use crate::contract::declared::{DeclaredCheckpoint, DeclaredResource, DeclaredSink};

    /// Judges a resource.
    pub fn resource(declared: &DeclaredResource) -> Vec<Violation> {
        let mut found = Vec::new();
        identifiers::resource(declared, &mut found);
        shapes::check(declared, &mut found);
        columns::check(declared, &mut found);
        roles::check(declared, &mut found);
        tenancy::check(declared, &mut found);
        sealing::check(declared, &mut found);
        identities::check(declared, &mut found);
        history::check(declared, &mut found);
        append::check(declared, &mut found);
        provenance::check(declared, &mut found);
        actions::check(declared, &mut found);
        hooks::check(declared, &mut found);
        without_consequences(found)
    }

    /// Judges a checkpoint.
    pub fn checkpoint(declared: &DeclaredCheckpoint) -> Vec<Violation> {
        let mut found = Vec::new();
        identifiers::checkpoint(declared, &mut found);
        without_consequences(found)
    }

    /// Judges a sink without looking into its domains.
    pub fn sink(declared: &DeclaredSink) -> Vec<Violation> {
        let mut found = Vec::new();
        identifiers::sink(declared, &mut found);
        messages::check(declared, &mut found);
        without_consequences(found)
    }

    /// Judges a domain's list of resources, by their paths.
    pub fn domain(resources: &[String]) -> Vec<Violation> {
        twice(resources, Rule::ResourceRepeated, Part::DomainResource)
    }

    /// Judges a sink's list of domains, by their paths.
    pub fn domains(domains: &[String]) -> Vec<Violation> {
        twice(domains, Rule::DomainRepeated, Part::Domain)
    }

    fn twice(paths: &[String], rule: Rule, part: fn(usize) -> Part) -> Vec<Violation> {
        let repeated = paths.iter().enumerate().filter_map(|(index, path)| {
            let first = paths.iter().take(index).position(|one| one == path)?;
            let fact = format!("`{path}` is listed twice");
            Some(Violation::new(rule, [part(index), part(first)], fact))
        });
        repeated.collect()
    }
}

/// Judges a compiled resource: names and types.
pub fn resource(spec: &ResourceSpec) -> Vec<Violation> {
    let mut found = names::resource(&DeclaredResource::from(spec));
    found.extend(types(spec));
    found
}

/// Judges a compiled sink with everything in it. What the macros emitted passes; a specification written by hand,
/// or compiled by another version, may not.
pub fn sink(spec: &SinkSpec) -> Vec<Violation> {
    let mut found = names::sink(&spec.into());
    found.extend(names::checkpoint(&(&spec.checkpoint).into()));
    found.extend(spec.resources().flat_map(resource));
    found.extend(relations::check(spec));
    found
}

/// The element at an index, with it.
fn nth<T>(items: &[T], index: Option<usize>) -> Option<(usize, &T)> {
    index.and_then(|index| items.get(index).map(|item| (index, item)))
}
