//! Which publications exist, and which tables they publish now.
//!
//! `START_REPLICATION` never complains about a missing publication, so the found set is compared with the requested
//! one on every connect.

use super::{ask, name, unexpected, while_doing};
use crate::connect::Replication;
use crate::error::{Error, Site};
use crate::ident::{Ident, Literal};
use crate::reason::Reason;
use crate::source::Publication;

const DOING: &str = "reading publications";

/// Reads the requested publications, in the requested order.
///
/// # Errors
/// `publication_missing` naming the first that does not exist.
pub(crate) async fn read_publications(
    replication: &mut Replication,
    version_num: u32,
    wanted: &[Ident],
) -> Result<Vec<Publication>, Error> {
    let failed = while_doing(DOING);
    let answer = ask(replication, &publications_sql(version_num, wanted), DOING).await?;
    let mut found = Vec::with_capacity(answer.len());
    for row in answer.rows() {
        let flag = |column| row.flag(column).map_err(&failed);
        found.push(Publication {
            name: name(row.text("pubname").map_err(&failed)?, DOING)?,
            all_tables: flag("puballtables")?,
            insert: flag("pubinsert")?,
            update: flag("pubupdate")?,
            delete: flag("pubdelete")?,
            truncate: flag("pubtruncate")?,
            via_root: flag("pubviaroot")?,
        });
    }
    in_order(found, wanted)
}

/// What the periodic check compares: every requested publication that still exists, and every table they publish.
/// One row per table, or one row without a table for a publication that publishes none.
pub(crate) fn published_tables(wanted: &[Ident]) -> String {
    format!(
        "select p.pubname::pg_catalog.text as pubname, c.oid as relid, \
         t.schemaname::pg_catalog.text as schemaname, t.tablename::pg_catalog.text as tablename \
         from pg_catalog.pg_publication p \
         left join pg_catalog.pg_publication_tables t on t.pubname = p.pubname \
         left join pg_catalog.pg_namespace n on n.nspname = t.schemaname \
         left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.tablename \
         where p.pubname in ({})",
        literals(wanted)
    )
}

/// The names as a list of literals.
pub(super) fn literals(names: &[Ident]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| Literal(name.as_str()).to_string())
        .collect();
    quoted.join(", ")
}

fn publications_sql(version_num: u32, wanted: &[Ident]) -> String {
    // publish_via_partition_root came with PostgreSQL 13.
    let via_root = if version_num >= 130_000 {
        "p.pubviaroot"
    } else {
        "false"
    };
    format!(
        "select p.pubname, p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate, \
         {via_root} as pubviaroot from pg_catalog.pg_publication p where p.pubname in ({})",
        literals(wanted)
    )
}

fn in_order(found: Vec<Publication>, wanted: &[Ident]) -> Result<Vec<Publication>, Error> {
    if wanted.is_empty() {
        return Err(Error::new(
            Reason::PublicationMissing,
            Site::option("publication").fact("no publication is configured"),
        ));
    }
    let ordered = wanted.iter().map(|name| {
        let publication = found.iter().find(|publication| publication.name == *name);
        publication.cloned().ok_or_else(|| missing(name))
    });
    let ordered: Vec<Publication> = ordered.collect::<Result<_, _>>()?;
    if found.len() > wanted.len() {
        return Err(unexpected(DOING));
    }
    Ok(ordered)
}

fn missing(name: &Ident) -> Error {
    Error::new(
        Reason::PublicationMissing,
        Site::option("publication").fact(format!("publication {}", name.quoted())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ident(text: &str) -> Ident {
        Ident::new(text).unwrap()
    }

    fn publication(text: &str) -> Publication {
        Publication {
            name: ident(text),
            all_tables: false,
            insert: true,
            update: true,
            delete: true,
            truncate: true,
            via_root: false,
        }
    }

    #[test]
    fn the_found_set_must_equal_the_requested_set() {
        let wanted = [ident("b"), ident("a, c")];
        let found = vec![publication("a, c"), publication("b")];
        let ordered = in_order(found, &wanted).unwrap();
        assert_eq!(ordered.first().unwrap().name, ident("b"));
        let error = in_order(vec![publication("b")], &wanted).unwrap_err();
        assert_eq!(error.reason, Reason::PublicationMissing);
        assert_eq!(error.site.fact.as_deref(), Some("publication \"a, c\""));
        assert!(in_order(Vec::new(), &[]).is_err());
    }

    #[test]
    fn a_release_without_a_column_is_not_asked_for_it() {
        let wanted = [ident("it's")];
        assert!(!publications_sql(120_022, &wanted).contains("p.pubviaroot"));
        assert!(publications_sql(130_000, &wanted).contains("p.pubviaroot"));
        assert!(publications_sql(180_004, &wanted).ends_with("in (E'it''s')"));
    }
}
