//! Which statements lead from what was declared to what is declared now, and back again?

mod checkpoints;
mod tables;

use std::collections::BTreeMap;

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;

use super::model::{Declared, Table};
use super::place::{Home, Place};
use crate::error::Error;
use crate::reason::Reason;

pub use checkpoints::leave_claims;

/// One change of the destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Where it is made.
    pub place: Place,
    /// The table or schema, quoted.
    pub subject: String,
    /// What happens to it, in words.
    pub what: String,
    /// The statements that make it, in order, without final semicolons.
    pub up: Vec<String>,
    /// The statements that undo it, in order.
    pub down: Vec<String>,
    /// What may be lost.
    pub risk: Risk,
}

/// What may a change lose?
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Risk {
    /// Nothing.
    None,
    /// What is dropped. Where that is not meant, the destination keeps it and this is done instead.
    Drops {
        /// Instead of `up`.
        up: Vec<String>,
        /// Instead of `down`.
        down: Vec<String>,
    },
    /// Values that do not survive the conversion. Where that is not meant, no migration can be written at all: the
    /// declaration needs the new form.
    Converts,
}

/// What becomes of a statement that drops something?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drops {
    /// It is written.
    Written,
    /// It is written as a comment, and the destination keeps what it would drop.
    Commented,
}

/// Every change from one state to another, by pipeline name: checkpoints first, then tables by name.
///
/// # Errors
/// `destination_target_claimed` for each table that two pipelines of the new state write.
pub fn changes(
    old: &BTreeMap<String, Declared>,
    new: &BTreeMap<String, Declared>,
) -> Result<Vec<Change>, Vec<Error>> {
    // What was recorded had no table twice, and a hand that put one there is known by the checksum.
    let (before, _) = by_name(old);
    let (after, twice) = by_name(new);
    if !twice.is_empty() {
        return Err(twice);
    }
    let mut changes = checkpoints::changes(old, new);
    changes.extend(tables::changes(&before, &after));
    Ok(changes)
}

/// Tables by where they are and what they are called there.
type ByName<'a> = BTreeMap<(Home, &'a QualifiedName), &'a Table>;

/// Every table, and a mistake for each that several pipelines write.
fn by_name(pipelines: &BTreeMap<String, Declared>) -> (ByName<'_>, Vec<Error>) {
    let mut tables = BTreeMap::new();
    let mut owners: BTreeMap<(Home, &QualifiedName), &str> = BTreeMap::new();
    let mut twice = Vec::new();
    for (pipeline, declared) in pipelines {
        for table in &declared.tables {
            if let Some(owner) = owners.insert((table.home, &table.name), pipeline) {
                let fact = format!("`{owner}` and `{pipeline}` both write it");
                let site = Site::table(&table.name).fact(fact);
                twice.push(Error::new(Reason::DestinationTargetClaimed, site));
            }
            tables.insert((table.home, &table.name), table);
        }
    }
    (tables, twice)
}
