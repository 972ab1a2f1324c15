//! Do old rows carry what the mirror finds its rows by?
//!
//! A key image is sent when any identity column changed, so an identity that covers the mirror's key shows every
//! key change. Without a key, or with a key outside the identity, only FULL tells which row is meant; and with tenants
//! only FULL tells whose it was.
//! Source: PostgreSQL documentation, "ALTER TABLE", REPLICA IDENTITY.

use replicant_transport::error::Site;
use replicant_transport::relation::ReplicaIdentity;

use super::coverage::{Mapped, Mapping};
use crate::error::Error;
use crate::reason::Reason;

/// Reports every mapped table whose old rows do not identify a mirror row.
pub(super) fn check(mapping: &Mapping<'_>, violations: &mut Vec<Error>) {
    for table in &mapping.tables {
        if !is_sufficient(table) {
            let site = Site::table(&table.source.name).fact(repair(table));
            violations.push(Error::new(Reason::SourceReplicaIdentity, site));
        }
    }
}

fn is_sufficient(table: &Mapped<'_>) -> bool {
    if table.source.replica_identity == ReplicaIdentity::Full {
        return true;
    }
    // Whose a row was is told by the row as it was.
    if table.scope.is_some() {
        return false;
    }
    let key = table.key();
    // A table that only ever receives inserts would do without, but nothing on the source promises that: the first
    // update or delete would fail there, in the application.
    !key.is_empty()
        && key
            .iter()
            .filter_map(|index| table.columns.get(*index))
            .all(|column| table.source.identity_columns.contains(&column.source.name))
}

fn repair(table: &Mapped<'_>) -> String {
    let source = table.source;
    let key: Vec<_> = table
        .key()
        .iter()
        .filter_map(|index| table.columns.get(*index))
        .map(|column| &column.source.name)
        .collect();
    // A deferrable primary key exists and is no identity: `default` is then what it already is.
    let primary_key_covers = table.scope.is_none()
        && source.replica_identity != ReplicaIdentity::Default
        && !key.is_empty()
        && key.iter().all(|name| source.primary_key.contains(name));
    format!(
        "replica identity {}: alter table {} replica identity {}",
        source.replica_identity.letter(),
        source.name.quoted(),
        if primary_key_covers {
            "default"
        } else {
            "full"
        }
    )
}
