//! Is the declaration legal by its own rules? What the macros emitted is; a specification written by hand, or
//! compiled by another version, may not be.

use replicant_checkpoint::contract::column::Origin;
use replicant_checkpoint::contract::resource::{ResourceSpec, Tenancy, TenancyStrategy};
use replicant_checkpoint::contract::rules::{self, Rule, Violation};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::error::Site;

use crate::error::Error;
use crate::reason::Reason;

/// Reports every broken rule. Nothing else is judged until there is none: an illegal declaration cannot be compared
/// with a source or a destination.
pub(crate) fn check(spec: &SinkSpec, violations: &mut Vec<Error>) {
    violations.extend(
        spec.resources()
            .filter(|resource| resource.broken)
            .map(|resource| {
                let fact = printable(&format!("{} did not compile", resource.rust_name));
                Error::new(Reason::DeclarationInvalid, Site::none().fact(fact))
            }),
    );
    violations.extend(spec.resources().flat_map(filled_by_nobody));
    violations.extend(rules::sink(spec).iter().map(violation));
}

/// A sink may be declared before its first table, and does not start then: it would hold a slot back for nothing. One
/// that only routes messages has something to do.
pub(crate) fn idle(spec: &SinkSpec) -> Option<Error> {
    let idle = spec.mapped().next().is_none() && spec.message_routes.is_empty();
    idle.then(|| {
        let fact = "the sink maps no table and routes no message";
        Error::new(Reason::ConfigInvalid, Site::option("domains").fact(fact))
    })
}

/// Every field is filled by somebody: a source column, the destination, the sink with what it knows, or an action. The
/// macros see to it; a specification written by hand may name a way that its resource does not have, and the field
/// would silently get the destination's default.
fn filled_by_nobody(resource: &ResourceSpec) -> impl Iterator<Item = Error> {
    let roles = resource.roles();
    let nobody = resource.columns.iter().filter(move |column| {
        let has_role = || roles.iter().any(|(_, field)| *field == column.field);
        match column.origin {
            Origin::Source(_) | Origin::Before(_) | Origin::Destination => false,
            Origin::Stamp => !has_role() && !holds_the_tenant(resource, column.field),
            Origin::Action => resource.is_mapped(),
        }
    });
    nobody.map(|column| {
        let fact = printable(&format!(
            "nothing fills the field {} of {}",
            column.field, resource.rust_name
        ));
        Error::new(Reason::DeclarationInvalid, Site::none().fact(fact))
    })
}

fn holds_the_tenant(resource: &ResourceSpec, field: &str) -> bool {
    resource.is_mapped()
        && matches!(
            resource.tenancy,
            Tenancy::Tenanted { strategy: TenancyStrategy::Attribute(holds), .. } if holds == field
        )
}

fn violation(broken: &Violation) -> Error {
    let reason = match broken.rule {
        Rule::IgnoredSourceMapped => Reason::IgnoredSourceMapped,
        Rule::DuplicateTarget => Reason::DestinationTargetClaimed,
        Rule::AppendLogPerSchema => Reason::AppendFrontierUnavailable,
        _ => Reason::DeclarationInvalid,
    };
    let fact = printable(&format!("{}: {}", broken.rule, broken.fact));
    Error::new(reason, Site::none().fact(fact))
}

/// A declared name may hold what a terminal should not see.
fn printable(text: &str) -> String {
    text.chars()
        .map(|character| {
            if character.is_control() {
                '?'
            } else {
                character
            }
        })
        .collect()
}
