//! May rows of this shape be delivered? Asked for every relation the stream announces, before its first row.
//!
//! Admission judged the catalog as it is now; the stream describes the table as it was when the rows were written.
//! Both can differ lawfully while the mirror catches up, so a shape is compared with what the mirror needs, and only
//! a change seen within one session is judged as a change.

use replicant_checkpoint::contract::resource::OnSchemaChange;
use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::relation::{
    KeyPart, Relation, RelationChange, RelationColumn, ReplicaIdentity, Severity, diff,
};
use replicant_transport::sink::{RelationSeen, ValueFormat};

use crate::admission;
use crate::error::Error;
use crate::generation::{Column, Generation, RowMatch, Table};
use crate::plan::refuse_unmapped_columns;
use crate::reason::Reason;

/// Judges one announced relation.
///
/// A table nobody declared passes: publishing partitions through their root announces each leaf too, although no row
/// is ever sent under its name. A row of such a table stops when it is planned.
///
/// # Errors
/// `source_column_unmapped`, `schema_change_destructive`, `type_modifier_widened`, `source_replica_identity`;
/// `source_types_mixed` when the stream has to be read again as text.
pub(crate) fn judge(generation: &Generation, seen: &RelationSeen) -> Result<(), Error> {
    let relation = &seen.relation;
    if generation.ignored.contains(&relation.name) {
        return Ok(());
    }
    let Some(table) = generation
        .by_source
        .get(&relation.name)
        .and_then(|index| generation.tables.get(*index))
    else {
        return Ok(());
    };
    if relation.oid != table.source_oid {
        // What the other table of this name held was never deleted row by row.
        let site = Site::table(&relation.name).fact("the table was dropped and created again");
        return Err(Error::new(Reason::SchemaChangeDestructive, site));
    }
    if let Some(previous) = &seen.previous {
        changed(table, previous, relation)?;
    }
    refuse_unmapped_columns(table, relation)?;
    // What the tables of tenants can hold is asked of each when the first row goes there.
    if !table.stands_for_many() {
        typed(generation, table, seen)?;
    }
    identified(table, relation)
}

/// Every mapped column the stream sends still has the admitted type and fits its destination. Rows from before the type
/// was changed are taken too where the destination's column holds both types.
fn typed(generation: &Generation, table: &Table, seen: &RelationSeen) -> Result<(), Error> {
    let relation = &seen.relation;
    for sent in &relation.columns {
        // One source column may fill several: its value and its image before.
        let filled = table.columns.iter();
        for column in filled.filter(|column| column.is_sent_as(&sent.name)) {
            holds(generation, column, sent, seen).map_err(|(reason, fact)| {
                let site = Site::table(&relation.name).column(&sent.name);
                Error::new(reason, Site { fact, ..site })
            })?;
        }
    }
    Ok(())
}

/// Does the destination's column hold what this source column sends?
fn holds(
    generation: &Generation,
    column: &Column,
    sent: &RelationColumn,
    seen: &RelationSeen,
) -> Result<(), (Reason, Option<String>)> {
    if sent.type_oid == column.source_type.oid {
        return match admission::still_fits(column, sent.type_modifier) {
            true => Ok(()),
            false => Err((Reason::TypeModifierWidened, None)),
        };
    }
    let destructive = |fact: &str| (Reason::SchemaChangeDestructive, Some(fact.to_owned()));
    let old = seen
        .commit_lsn
        .is_some_and(|commit| generation.is_later_than(commit));
    if !old {
        return Err(destructive("the type changed"));
    }
    if !admission::fits_as_text(column, sent.type_oid, sent.type_modifier) {
        let fact = "rows from before the type changed do not fit the destination's type";
        return Err(destructive(fact));
    }
    match generation.format {
        ValueFormat::Text => Ok(()),
        ValueFormat::Binary => Err((Reason::SourceTypesMixed, None)),
    }
}

/// Old rows still carry what rows are found by.
fn identified(table: &Table, relation: &Relation) -> Result<(), Error> {
    if relation.replica_identity == ReplicaIdentity::Full {
        return Ok(());
    }
    let carries = |key: &usize| {
        table.columns.get(*key).is_some_and(|column| {
            let sent = column
                .position_in(relation)
                .and_then(|at| relation.columns.get(at));
            sent.is_some_and(|sent| sent.key == KeyPart::Key)
        })
    };
    let covered = match &table.row_match {
        // Whose a row was is told by the row as it was.
        _ if table.scope.is_some() => false,
        RowMatch::Key(columns) => columns.iter().all(|key| carries(&key.column)),
        RowMatch::WholeRow => false,
    };
    if covered {
        return Ok(());
    }
    let fact = format!(
        "replica identity {} does not cover what the mirror finds rows by",
        relation.replica_identity.letter()
    );
    Err(Error::new(
        Reason::SourceReplicaIdentity,
        Site::table(&relation.name).fact(fact),
    ))
}

/// A change of shape within one session: whatever rewrites or loses values that are applied already stops; a dropped
/// column stops unless the declaration says to go on without it.
fn changed(table: &Table, previous: &Relation, relation: &Relation) -> Result<(), Error> {
    let stops = |change: &&RelationChange| {
        let skipped = change
            .column()
            .is_some_and(|column| table.spec.skips.contains(&column.as_str()));
        let accepted = match change {
            RelationChange::ColumnDropped(_) => {
                table.spec.on_schema_change == OnSchemaChange::Ignore
            }
            RelationChange::ModifierChanged(column, _) => {
                keeps_numbers(table, column, previous, relation)
            }
            _ => false,
        };
        change.severity() == Severity::Destructive && !skipped && !accepted
    };
    let diff = diff(previous, relation);
    let Some(change) = diff.changes().iter().find(stops) else {
        return Ok(());
    };
    let site = Site::table(&relation.name).fact(describe(change));
    let site = match change.column() {
        Some(column) => site.column(column),
        None => site,
    };
    Err(Error::new(Reason::SchemaChangeDestructive, site))
}

/// A `numeric` column that only gained digits was rewritten on the source with more zeros. Where the destination's column
/// has a scale of its own, that scale decides what is written there, and nothing that is stored disagrees.
fn keeps_numbers(table: &Table, column: &Ident, previous: &Relation, relation: &Relation) -> bool {
    let modifier = |relation: &Relation| {
        let sent = relation.columns.iter().find(|sent| sent.name == *column)?;
        (sent.type_oid == NUMERIC).then_some(sent.type_modifier)
    };
    let fixed_scale = table
        .columns
        .iter()
        .any(|mapped| mapped.source == *column && mapped.target_type.modifier >= 0);
    match (
        modifier(previous).and_then(digits),
        modifier(relation).and_then(digits),
    ) {
        (Some(was), Some(is)) => fixed_scale && was.0 <= is.0 && was.1 <= is.1,
        _ => false,
    }
}

/// `pg_type.oid` of numeric.
const NUMERIC: u32 = 1700;

/// Digits before and after the decimal point of `numeric(precision, scale)`.
///
/// Source: PostgreSQL source, `numeric.c`, `make_numeric_typmod`: an offset of 4 and sixteen bits each.
fn digits(modifier: i32) -> Option<(i32, i32)> {
    let packed = modifier.checked_sub(4).filter(|packed| *packed >= 0)?;
    let (precision, scale) = (packed >> 16, packed & 0xFFFF);
    Some((precision - scale, scale))
}

fn describe(change: &RelationChange) -> String {
    match change {
        RelationChange::Recreated => "the table was dropped and created again".to_owned(),
        RelationChange::Renamed { from } => format!("the table was renamed from {from}"),
        RelationChange::ReplicaIdentityChanged { from, to } => format!(
            "the replica identity changed from {} to {}",
            from.letter(),
            to.letter()
        ),
        RelationChange::ColumnDropped(_) => "the column was dropped or renamed".to_owned(),
        RelationChange::ColumnAdded(_) => "the column was added".to_owned(),
        RelationChange::ColumnRecreated(_) => {
            "the column was dropped and added again; its stored values are gone".to_owned()
        }
        RelationChange::TypeChanged(_) => "the type changed".to_owned(),
        RelationChange::ModifierChanged(..) => {
            "the length or precision changed so that stored values may have been rewritten"
                .to_owned()
        }
        RelationChange::KeyChanged { .. } => {
            "the column joined or left the replica identity".to_owned()
        }
    }
}
