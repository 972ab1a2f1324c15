//! Do the publications send every change of every mapped table, under the name it is mapped by?
//!
//! The server combines the publications of a subscriber per table (operations and row filters by "or"), and the
//! session's facts do not say which publication holds which table. So each publication must be whole: that is
//! stricter than needed only for sinks that mix whole and partial publications.

use replicant_transport::error::Site;
use replicant_transport::source::{Publication, Session, SourceTable, TableKind};

use super::coverage::Mapping;
use crate::error::Error;
use crate::reason::Reason;

/// Reports missing operations, row filters and partitioned tables published by their leaves.
///
/// TRUNCATE is required even where the policy is to halt on it: a truncate that is not published is one that
/// nobody stops at.
pub(super) fn check(session: &Session, mapping: &Mapping<'_>, violations: &mut Vec<Error>) {
    for publication in &session.publications {
        if let Some(fact) = missing_operations(publication) {
            violations.push(Error::new(
                Reason::PublicationShape,
                Site::none().fact(fact),
            ));
        }
    }
    let any_via_root = session.publications.iter().any(|one| one.via_root);
    for table in &mapping.tables {
        let source = table.source;
        if source.row_filter {
            let site = Site::table(&source.name).fact(without_filter(session, source));
            violations.push(Error::new(Reason::PublicationShape, site));
        }
        if source.kind == TableKind::Partitioned && !any_via_root {
            let site = Site::table(&source.name).fact(via_root(session));
            violations.push(Error::new(Reason::PublicationShape, site));
        }
    }
}

fn missing_operations(publication: &Publication) -> Option<String> {
    let missing: Vec<_> = [
        ("insert", publication.insert),
        ("update", publication.update),
        ("delete", publication.delete),
        ("truncate", publication.truncate),
    ]
    .into_iter()
    .filter_map(|(operation, published)| (!published).then_some(operation))
    .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "{} is not published: alter publication {} set (publish = 'insert, update, delete, truncate')",
            missing.join(", "),
            publication.name.quoted()
        )
    })
}

fn without_filter(session: &Session, source: &SourceTable) -> String {
    // Only publications that list tables can filter them.
    let repair: Vec<_> = session
        .publications
        .iter()
        .filter(|one| !one.all_tables)
        .map(|one| {
            format!(
                "alter publication {name} drop table {table}; alter publication {name} add table {table}",
                name = one.name.quoted(),
                table = source.name.quoted()
            )
        })
        .collect();
    format!("rows are filtered: {}", repair.join(" or "))
}

fn via_root(session: &Session) -> String {
    let repair: Vec<_> = session
        .publications
        .iter()
        .map(|one| {
            format!(
                "alter publication {} set (publish_via_partition_root = true)",
                one.name.quoted()
            )
        })
        .collect();
    format!("its rows arrive as its leaves': {}", repair.join("; "))
}
