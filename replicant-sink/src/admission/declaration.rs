//! Is the declaration legal by its own rules? What the macros emitted is; a specification written by hand, or
//! compiled by another version, may not be.

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
    violations.extend(rules::sink(spec).iter().map(violation));
}

fn violation(broken: &Violation) -> Error {
    let reason = match broken.rule {
        Rule::IgnoredSourceMapped => Reason::IgnoredSourceMapped,
        Rule::DuplicateTarget => Reason::DestinationTargetClaimed,
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
