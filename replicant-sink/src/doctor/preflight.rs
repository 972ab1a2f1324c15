//! May this pipeline start? Every check of a start, on both sides, creating and writing nothing.

use replicant_transport::connect::SqlSession;
use replicant_transport::error::Site;
use replicant_transport::ident::SlotName;
use replicant_transport::pipeline::{SlotReport, probe, probe_slot};
use replicant_transport::source::{ExpectedSource, Session};

use super::finding::Finding;
use super::report::{Check, Report};
use super::sides::{self, destination};
use super::slot::{self, Acked};
use super::vault;
use crate::admission;
use crate::error::Error;
use crate::generation::Notice;
use crate::pipeline::Pipeline;
use crate::reason::Reason;

/// Runs every check and reports all of them, whatever fails.
///
/// # Cancel safety
/// Cancel safe: nothing is created or written.
pub async fn preflight(pipeline: &Pipeline) -> Report {
    let checks = match ask(pipeline).await {
        Err(unusable) => vec![unusable],
        Ok(asked) => {
            let mut checks = asked.checks;
            checks.extend(slot_checks(asked.slot.as_ref(), Acked::NotAsked));
            checks
        }
    };
    Report::of("preflight", checks)
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
    let ends = sides::read_only(pipeline)?;
    let publications = &pipeline.options().publications;
    let session = probe(&ends.source, &ends.slot, publications, None).await?;
    Ok(Identified {
        source: session.identity.source(),
    })
}

/// What the checks of a start found out, and the sessions they leave for others.
pub(super) struct Asked {
    /// The slot's name.
    pub(super) name: SlotName,
    pub(super) checks: Vec<Check>,
    pub(super) session: Option<Session>,
    /// `None` when the source could not be asked.
    pub(super) slot: Option<SlotReport>,
    pub(super) destination: Option<SqlSession>,
}

/// Asks both sides, each whatever the other answered. Options that lead nowhere are the only check then.
pub(super) async fn ask(pipeline: &Pipeline) -> Result<Asked, Check> {
    let ends = sides::read_only(pipeline)
        .map_err(|error| Check::fail("configuration", "configuration", &error))?;
    let mut asked = Asked {
        name: ends.slot.clone(),
        checks: Vec::new(),
        session: None,
        slot: None,
        destination: None,
    };
    let checks = &mut asked.checks;
    let complete = pipeline.options().complete().map(drop);
    let unidentified =
        matches!(&complete, Err(error) if error.code() == Reason::SourceIdentityRequired.code());
    checks.push(match &complete {
        Err(error) if !unidentified => Check::fail("configuration", "configuration", error),
        _ => Check::pass("configuration", "configuration"),
    });
    checks.extend(untenanted(pipeline));
    checks.extend(vault::check(pipeline).await);
    let expected = pipeline.options().source_identity.as_ref();
    let publications = &pipeline.options().publications;
    match probe(&ends.source, &ends.slot, publications, expected).await {
        Ok(session) => {
            checks.push(Check::pass("source_reachable", "source"));
            checks.push(identity(unidentified, &session));
            checks.push(release(&session));
            asked.session = Some(session);
        }
        Err(error) => checks.extend(source_failed(&error.into())),
    }
    if asked.session.is_some() {
        match probe_slot(&ends.source, &ends.slot, expected).await {
            Ok(slot) => asked.slot = Some(slot),
            Err(error) => checks.push(Check::fail("slot_readable", "slot", &error.into())),
        }
    }
    match destination(&ends).await {
        Ok(destination) => {
            checks.push(Check::pass("destination_reachable", "destination"));
            checks.extend(admission(pipeline, asked.session.as_ref(), &destination).await);
            asked.destination = Some(destination);
        }
        Err(error) => {
            checks.push(Check::fail("destination_reachable", "destination", &error));
            checks.push(Check::skipped(
                "admission",
                "destination",
                "destination_unreachable",
            ));
        }
    }
    Ok(asked)
}

/// The slot's own checks; skipped when the source could not be asked.
pub(super) fn slot_checks(report: Option<&SlotReport>, acked: Acked) -> Vec<Check> {
    match report {
        None => ["slot_presence", "slot_retention"]
            .map(|name| Check::skipped(name, "slot", "source_unreachable"))
            .into(),
        Some(report) => vec![
            slot::presence(report.slot.as_ref(), acked),
            slot::retention(report.slot.as_ref(), acked),
        ],
    }
}

/// Did the server answer at all? Then what it refused is a check that failed, not a question that went unasked.
fn source_failed(error: &Error) -> Vec<Check> {
    let answered = matches!(
        error.code(),
        "source_identity_mismatch"
            | "source_release_unsupported"
            | "wal_level_not_logical"
            | "privilege_missing"
            | "standby_unsupported"
            | "publication_missing"
            | "publication_column_lists_differ"
            | "invalid_identifier"
    );
    if !answered {
        return vec![
            Check::fail("source_reachable", "source", error),
            Check::skipped("source_identity", "source", "source_unreachable"),
        ];
    }
    let reachable = Check::pass("source_reachable", "source");
    if error.code() == "source_identity_mismatch" {
        return vec![reachable, Check::fail("source_identity", "source", error)];
    }
    vec![reachable, Check::fail("source_session", "source", error)]
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
        return Check::finding("source_release", "source", Finding::SourceReleaseUntested)
            .noting(Some(detail));
    }
    Check::pass("source_release", "source")
}

fn noticed(notice: &Notice) -> Check {
    Check::finding("source_coverage", "source", notice.finding()).noting(Some(notice.to_string()))
}

/// Mirrors without a tenant are named, so that a reviewer sees that it was meant.
fn untenanted(pipeline: &Pipeline) -> Option<Check> {
    let tables: Vec<String> = pipeline
        .spec()
        .mapped()
        .map(|resource| format!("{}.{}", resource.target.schema, resource.target.table))
        .collect();
    (!tables.is_empty()).then(|| Check {
        detail: Some(format!("without a tenant: {}", tables.join(", "))),
        ..Check::pass("tenancy", "configuration")
    })
}

async fn admission(
    pipeline: &Pipeline,
    session: Option<&Session>,
    destination: &SqlSession,
) -> Vec<Check> {
    let Some(session) = session else {
        return vec![Check::skipped(
            "admission",
            "destination",
            "source_unreachable",
        )];
    };
    let request = admission::Request {
        spec: pipeline.spec(),
        constraints: pipeline.options().destination_constraints,
        values: admission::Values::Fastest,
        code: pipeline.code(),
    };
    match admission::admit(&request, session, &destination.client).await {
        Ok(generation) => {
            let mut checks = vec![Check::pass("admission", "destination")];
            checks.extend(generation.notices.iter().map(noticed));
            checks
        }
        Err(refused) => refused
            .iter()
            .map(|error| Check::fail("admission", "destination", error))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use replicant_transport::ident::QualifiedName;

    use super::super::Verdict;
    use super::*;

    #[test]
    fn a_notice_is_a_warning_that_names_the_table() {
        let table = QualifiedName::parse("public.events").unwrap();
        let check = noticed(&Notice::PartitionsUnseen { table });
        assert_eq!(check.status, Verdict::Warn);
        assert_eq!(check.reason, "source_partitions_unseen");
        assert!(check.detail.unwrap().contains("public.events"));
    }
}
