//! May rows of this shape be delivered? Asked for every relation the stream announces, before its first row.
//!
//! Admission judged the catalog as it is now; the stream describes the table as it was when the rows were written.
//! Both can differ lawfully while the mirror catches up, so a shape is compared with what the mirror needs, and only
//! a change seen within one session is judged as a change.

use replicant_checkpoint::contract::resource::{OnSchemaChange, Origin};
use replicant_transport::error::Site;
use replicant_transport::relation::{KeyPart, Relation, ReplicaIdentity};
use replicant_transport::sink::RelationSeen;

use crate::admission;
use crate::error::Error;
use crate::generation::{Generation, RowMatch, Table};
use crate::reason::Reason;

/// Judges one announced relation.
///
/// # Errors
/// `source_table_unmapped`, `source_column_unmapped`, `schema_change_destructive`, `type_modifier_widened`,
/// `source_replica_identity`.
pub(crate) fn judge(generation: &Generation, seen: &RelationSeen) -> Result<(), Error> {
    let relation = &seen.relation;
    if generation.ignored.contains(&relation.name) {
        return Ok(());
    }
    let table = generation
        .by_source
        .get(&relation.name)
        .and_then(|index| generation.tables.get(*index))
        .ok_or_else(|| Error::new(Reason::SourceTableUnmapped, Site::table(&relation.name)))?;
    if relation.oid != table.source_oid {
        // What the other table of this name held was never deleted row by row.
        let site = Site::table(&relation.name).fact("the table was dropped and created again");
        return Err(Error::new(Reason::SchemaChangeDestructive, site));
    }
    if let Some(previous) = &seen.previous {
        changed(table, previous, relation)?;
    }
    accounted(table, relation)?;
    typed(table, relation)?;
    identified(table, relation)
}

/// Every column the stream sends is mapped or skipped.
fn accounted(table: &Table, relation: &Relation) -> Result<(), Error> {
    for column in &relation.columns {
        let name = column.name.as_str();
        let mapped = table
            .columns
            .iter()
            .any(|mapped| mapped.source == column.name);
        if !mapped && !table.spec.skips.contains(&name) {
            let site = Site::table(&relation.name).column(&column.name);
            return Err(Error::new(Reason::SourceColumnUnmapped, site));
        }
    }
    Ok(())
}

/// Every mapped column the stream sends still has the admitted type and fits its destination.
fn typed(table: &Table, relation: &Relation) -> Result<(), Error> {
    for sent in &relation.columns {
        let Some(column) = table
            .columns
            .iter()
            .find(|column| column.source == sent.name)
        else {
            continue;
        };
        let site = || Site::table(&relation.name).column(&sent.name);
        if sent.type_oid != column.source_type.oid {
            let site = site().fact("the type changed");
            return Err(Error::new(Reason::SchemaChangeDestructive, site));
        }
        if !admission::still_fits(column, sent.type_modifier) {
            return Err(Error::new(Reason::TypeModifierWidened, site()));
        }
    }
    Ok(())
}

/// Old rows still carry what rows are found by.
fn identified(table: &Table, relation: &Relation) -> Result<(), Error> {
    if relation.replica_identity == ReplicaIdentity::Full {
        return Ok(());
    }
    let carries = |key: &usize| {
        table.columns.get(*key).is_some_and(|column| {
            relation
                .columns
                .iter()
                .any(|sent| sent.name == column.source && sent.key == KeyPart::Key)
        })
    };
    let covered = match &table.row_match {
        RowMatch::Key(columns) => columns.iter().all(|key| carries(&key.column)),
        RowMatch::WholeRow(_) => false,
    };
    if covered {
        return Ok(());
    }
    let fact = format!(
        "replica identity {} does not cover the mirror's key",
        relation.replica_identity.letter()
    );
    Err(Error::new(
        Reason::SourceReplicaIdentity,
        Site::table(&relation.name).fact(fact),
    ))
}

/// A change of shape within one session: replica identity and types always stop, a dropped column by policy.
fn changed(table: &Table, previous: &Relation, relation: &Relation) -> Result<(), Error> {
    let stop = |fact: String| {
        Err(Error::new(
            Reason::SchemaChangeDestructive,
            Site::table(&relation.name).fact(fact),
        ))
    };
    if previous.replica_identity != relation.replica_identity {
        return stop(format!(
            "the replica identity changed from {} to {}",
            previous.replica_identity.letter(),
            relation.replica_identity.letter()
        ));
    }
    if previous.name != relation.name {
        return stop(format!("the table was renamed from {}", previous.name));
    }
    for gone in &previous.columns {
        let still_sent = relation
            .columns
            .iter()
            .any(|column| column.name == gone.name);
        let is_mapped = table.spec.columns.iter().any(|column| {
            matches!(column.origin, Origin::Source(source) if source == gone.name.as_str())
        });
        if !still_sent
            && is_mapped
            && table.spec.on_schema_change == OnSchemaChange::HaltDestructive
        {
            return stop(format!("column {} was dropped or renamed", gone.name));
        }
    }
    Ok(())
}
