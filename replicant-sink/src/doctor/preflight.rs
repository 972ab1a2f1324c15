//! May this pipeline start? Every check of a start, on both sides, creating and writing nothing.

use replicant_transport as transport;
use replicant_transport::connect::ConnectOptions;
use replicant_transport::error::Site;
use replicant_transport::pipeline::probe;
use replicant_transport::reason::{Class, Reason as Found};
use replicant_transport::source::{ExpectedSource, Session};

use super::report::{Check, Report};
use crate::admission;
use crate::delivery::destination::as_destination;
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::reason::Reason;

/// Runs every check and reports all of them, whatever fails.
///
/// # Cancel safety
/// Cancel safe: nothing is created or written.
pub async fn preflight(pipeline: &Pipeline) -> Report {
    Report::of("preflight", checks(pipeline).await)
}

/// The source that answers, for an operator to write down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identified {
    /// The cluster and database that answered.
    pub source: ExpectedSource,
}

/// Asks the configured source who it is.
///
/// # Errors
/// `config_invalid` and the connection layer's reasons.
pub async fn identify(pipeline: &Pipeline) -> Result<Identified, Error> {
    let ends = pipeline.ends()?;
    let session = probe(
        &ends.source,
        &ends.slot,
        &pipeline.options().publications,
        None,
    )
    .await?;
    Ok(Identified {
        source: session.identity.source(),
    })
}

async fn checks(pipeline: &Pipeline) -> Vec<Check> {
    let mut checks = Vec::new();
    let ends = match pipeline.ends() {
        Ok(ends) => ends,
        Err(error) => return vec![Check::fail("configuration", "configuration", &error)],
    };
    let complete = pipeline.options().complete().map(drop);
    let unidentified =
        matches!(&complete, Err(error) if error.code() == Reason::SourceIdentityRequired.code());
    checks.push(match &complete {
        Err(error) if !unidentified => Check::fail("configuration", "configuration", error),
        _ => Check::pass("configuration", "configuration"),
    });
    let expected = pipeline.options().source_identity.as_ref();
    let session = probe(
        &ends.source,
        &ends.slot,
        &pipeline.options().publications,
        expected,
    )
    .await;
    let session = match session {
        Ok(session) => session,
        Err(error) => {
            if answered(&error) {
                checks.push(Check::pass("source_reachable", "source"));
                checks.push(Check::fail("source_session", "source", &error.into()));
            } else {
                checks.push(Check::fail("source_reachable", "source", &error.into()));
            }
            checks.push(Check::skipped(
                "source_identity",
                "source",
                "source_unreachable",
            ));
            checks.push(Check::skipped(
                "admission",
                "destination",
                "source_unreachable",
            ));
            return checks;
        }
    };
    checks.push(Check::pass("source_reachable", "source"));
    checks.push(identity(unidentified, &session));
    checks.push(release(&session));
    checks.extend(untenanted(pipeline));
    checks.extend(admission(pipeline, &session, &ends.destination).await);
    checks
}

/// Did the server answer at all? Then what it refused is a check that failed, not a question that went unasked.
fn answered(error: &transport::error::Error) -> bool {
    error.reason.class() != Class::Transient
        && (error.site.sqlstate.is_some()
            || matches!(
                error.reason,
                Found::SourceIdentityMismatch
                    | Found::SourceReleaseUnsupported
                    | Found::WalLevelNotLogical
                    | Found::StandbyUnsupported
                    | Found::PublicationMissing
                    | Found::PublicationColumnListsDiffer
                    | Found::InvalidIdentifier
            ))
}

fn identity(unidentified: bool, session: &Session) -> Check {
    if unidentified {
        let line = format!("add: source_identity = \"{}\"", session.identity.source());
        let error = Error::new(Reason::SourceIdentityRequired, Site::none().fact(line));
        return Check::fail("source_identity", "source", &error);
    }
    Check::pass("source_identity", "source")
}

/// The newest release the mirror is tested on.
const TESTED_MAJOR_MAX: u32 = 18;

fn release(session: &Session) -> Check {
    if session.server.version_num / 10_000 > TESTED_MAJOR_MAX {
        let detail = format!("tested up to PostgreSQL {TESTED_MAJOR_MAX}");
        return Check::warn(
            "source_release",
            "source",
            "source_release_untested",
            detail,
        );
    }
    Check::pass("source_release", "source")
}

/// Mirrors without a tenant are named, so that a reviewer sees that it was meant.
fn untenanted(pipeline: &Pipeline) -> Option<Check> {
    let tables: Vec<String> = pipeline
        .spec()
        .resources()
        .map(|resource| format!("{}.{}", resource.target.schema, resource.target.table))
        .collect();
    (!tables.is_empty()).then(|| Check {
        detail: Some(format!("without a tenant: {}", tables.join(", "))),
        ..Check::pass("tenancy", "configuration")
    })
}

async fn admission(
    pipeline: &Pipeline,
    session: &Session,
    destination: &ConnectOptions,
) -> Vec<Check> {
    let destination = match replicant_transport::connect::sql(destination).await {
        Ok(destination) => destination,
        Err(error) => {
            let skipped = Check::skipped("admission", "destination", "destination_unreachable");
            let mut checks = Vec::new();
            let check = if answered(&error) {
                checks.push(Check::pass("destination_reachable", "destination"));
                "destination_session"
            } else {
                "destination_reachable"
            };
            checks.push(Check::fail(check, "destination", &as_destination(error)));
            checks.push(skipped);
            return checks;
        }
    };
    let mut checks = vec![Check::pass("destination_reachable", "destination")];
    let request = admission::Request {
        spec: pipeline.spec(),
        constraints: pipeline.options().destination_constraints,
    };
    match admission::admit(&request, session, &destination.client).await {
        Ok(_) => checks.push(Check::pass("admission", "destination")),
        Err(refused) => {
            checks.extend(
                refused
                    .iter()
                    .map(|error| Check::fail("admission", "destination", error)),
            );
        }
    }
    checks
}
