//! What does the destination remember of this mirror, and does that fit the source?

use replicant_checkpoint::store::{Completeness, Shown};
use replicant_transport::ident::QualifiedName;
use replicant_transport::source::{ExpectedSource, SourceIdentity};

use super::finding::Finding;
use super::report::Check;
use super::slot::Acked;
use crate::error::Error;

const DOMAIN: &str = "checkpoint";

/// The rows themselves.
pub(super) fn state(
    stored: Result<Option<&Shown>, &Error>,
    expected: Option<&ExpectedSource>,
) -> Check {
    const NAME: &str = "checkpoint_state";
    let shown = match stored {
        Err(error) => return Check::fail(NAME, DOMAIN, error),
        Ok(None) => return Check::pass_as(NAME, DOMAIN, Finding::CheckpointAbsent),
        Ok(Some(shown)) => shown,
    };
    let foreign = expected.and_then(|expected| shown.belongs_to(expected).err());
    match (foreign, shown.acked_end) {
        (Some(error), _) => Check::fail(NAME, DOMAIN, &error.into()),
        (None, None) => Check::finding(NAME, DOMAIN, Finding::CheckpointUnpositioned),
        (None, Some(_)) => Check::pass_as(NAME, DOMAIN, Finding::CheckpointBound),
    }
}

/// Timeline and positions against the source's.
pub(super) fn source_position(shown: Option<&Shown>, source: Option<&SourceIdentity>) -> Check {
    const NAME: &str = "source_position";
    let (shown, source) = match (shown, source) {
        (None, _) => return Check::skipped(NAME, DOMAIN, Finding::CheckpointAbsent.code()),
        (_, None) => return Check::skipped(NAME, DOMAIN, "source_unreachable"),
        (Some(shown), Some(source)) => (shown, source),
    };
    match shown.fits(source) {
        Ok(()) => Check::pass(NAME, DOMAIN),
        Err(error) => Check::fail(NAME, DOMAIN, &error.into()),
    }
}

/// How much of each table is there.
pub(super) fn completeness(
    shown: Option<&Shown>,
    tables: Result<&[(QualifiedName, Completeness)], &Error>,
) -> Check {
    const NAME: &str = "completeness";
    if shown.is_none_or(|shown| shown.acked_end.is_none()) {
        return Check::skipped(NAME, DOMAIN, Finding::CheckpointUnpositioned.code());
    }
    let tables = match tables {
        Ok(tables) => tables,
        Err(error) => return Check::fail(NAME, DOMAIN, error),
    };
    let of = |wanted| {
        let names = tables.iter().filter(|(_, state)| *state == wanted);
        let names: Vec<String> = names.map(|(name, _)| name.to_string()).collect();
        (!names.is_empty()).then(|| format!("{}: {}", wanted.as_str(), names.join(", ")))
    };
    let (filling, open) = (of(Completeness::Filling), of(Completeness::Open));
    let check = match (&filling, &open) {
        (Some(_), _) => Check::finding(NAME, DOMAIN, Finding::TablesFilling),
        // Going forward over existing rows is a choice that was made, not a fault.
        (None, Some(_)) => Check::pass_as(NAME, DOMAIN, Finding::TablesOpen),
        (None, None) => Check::pass_as(NAME, DOMAIN, Finding::TablesComplete),
    };
    let named: Vec<String> = [filling, open].into_iter().flatten().collect();
    check.noting((!named.is_empty()).then(|| named.join("; ")))
}

/// What the checkpoint says about acknowledgement.
pub(super) fn acked(stored: Result<Option<&Shown>, &Error>) -> Acked {
    match stored {
        Err(_) => Acked::NotAsked,
        Ok(shown) => shown
            .and_then(|shown| shown.acked_end)
            .map_or(Acked::Never, Acked::UpTo),
    }
}
