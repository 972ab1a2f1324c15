//! Which mapped table a stream relation belongs to, and where each mapped column lies in its rows.

use std::collections::HashMap;
use std::sync::Arc;

use replicant_checkpoint::contract::resource::OnSchemaChange;
use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::relation::{KeyPart, Relation};

use crate::error::Error;
use crate::generation::{DeleteAndReinsert, Generation, Table};
use crate::reason::Reason;

/// How rows of one relation map onto one table of the generation.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// Index into the generation's tables.
    pub(crate) table: usize,
    /// For each mapped column its position in the stream; `None` when these rows do not have it.
    pub(crate) positions: Vec<Option<usize>>,
    /// The first mapped column that these rows do not have under its name although the declaration insists on it. Rows
    /// written before the catalog was read lack a column that was added later, or have it under an older name; newer
    /// rows lack one that was dropped.
    pub(crate) missing: Option<Ident>,
    /// For each mapped column, whether key-only old rows carry it.
    pub(crate) in_key: Vec<KeyPart>,
}

impl Mapping {
    /// May a row be deleted and written anew from its image? Not if it would lose what no image has.
    pub(crate) fn may_replace(&self, table: &Table) -> bool {
        table.delete_and_reinsert == DeleteAndReinsert::Allowed
            && self.positions.iter().all(Option::is_some)
    }
}

/// What a relation stands for.
#[derive(Clone, Debug)]
pub(crate) enum Resolution {
    /// Its changes are deliberately dropped.
    Ignored,
    /// A mapped table.
    Mapped(Arc<Mapping>),
}

/// More distinct relations than any session describes; a bound, not a tuning knob.
const RELATIONS_MAX: usize = 4096;

/// Remembers resolutions by relation.
#[derive(Debug)]
pub(crate) struct Resolver {
    generation: Arc<Generation>,
    /// By address; the kept `Arc` makes sure that an address is not used again.
    seen: HashMap<usize, (Arc<Relation>, Resolution)>,
}

impl Resolver {
    pub(crate) fn new(generation: Arc<Generation>) -> Self {
        Self {
            generation,
            seen: HashMap::new(),
        }
    }

    /// The admitted tables.
    pub(crate) fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    /// What this relation stands for.
    ///
    /// # Errors
    /// `source_table_unmapped`, `source_column_unmapped`.
    pub(crate) fn resolve(&mut self, relation: &Arc<Relation>) -> Result<Resolution, Error> {
        let address = Arc::as_ptr(relation).addr();
        if let Some((_, known)) = self.seen.get(&address) {
            return Ok(known.clone());
        }
        let resolution = resolve(&self.generation, relation)?;
        if self.seen.len() >= RELATIONS_MAX {
            self.seen.clear();
        }
        self.seen
            .insert(address, (Arc::clone(relation), resolution.clone()));
        Ok(resolution)
    }
}

fn resolve(generation: &Generation, relation: &Relation) -> Result<Resolution, Error> {
    if generation.ignored.contains(&relation.name) {
        return Ok(Resolution::Ignored);
    }
    let found = generation.by_source.get(&relation.name);
    let Some((index, table)) =
        found.and_then(|&index| Some((index, generation.tables.get(index)?)))
    else {
        return Err(Error::new(
            Reason::SourceTableUnmapped,
            Site::table(&relation.name),
        ));
    };
    refuse_unmapped_columns(table, relation)?;
    let mut positions = Vec::with_capacity(table.columns.len());
    let mut in_key = Vec::with_capacity(table.columns.len());
    let mut missing = None;
    for column in &table.columns {
        let position = column.position_in(relation);
        let sent = position.and_then(|position| relation.columns.get(position));
        let lacking = match sent {
            None => table.spec.on_schema_change == OnSchemaChange::HaltDestructive,
            Some(sent) => sent.name != column.source,
        };
        if lacking {
            missing.get_or_insert_with(|| column.source.clone());
        }
        in_key.push(sent.map_or(KeyPart::NotKey, |sent| sent.key));
        positions.push(position);
    }
    Ok(Resolution::Mapped(Arc::new(Mapping {
        table: index,
        positions,
        missing,
        in_key,
    })))
}

/// Every delivered column is mapped or skipped; a value nobody decided about must not be dropped silently.
///
/// Asked when a relation is announced, and here once more: a plan made without that question would lose values.
pub(crate) fn refuse_unmapped_columns(table: &Table, relation: &Relation) -> Result<(), Error> {
    for sent in &relation.columns {
        let known = table
            .columns
            .iter()
            .any(|column| column.is_sent_as(&sent.name))
            || table.spec.skips.contains(&sent.name.as_str());
        if !known {
            return Err(Error::new(
                Reason::SourceColumnUnmapped,
                Site::table(&relation.name).column(&sent.name),
            ));
        }
    }
    Ok(())
}
