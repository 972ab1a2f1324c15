//! Which mapped table a stream relation belongs to, and where each mapped column lies in its rows.

use std::collections::HashMap;
use std::sync::Arc;

use replicant_checkpoint::contract::resource::OnSchemaChange;
use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::relation::{KeyPart, Relation};

use super::tenants::{Part, Scoped};
use crate::admission::{fits_as_text, still_fits};
use crate::error::Error;
use crate::generation::{DeleteAndReinsert, Generation, Image, Table};
use crate::reason::Reason;
use crate::tenant::Tenant;

/// How rows of one relation map onto one table of the generation.
#[derive(Clone, Debug)]
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
        let mut columns = self.positions.iter().zip(&table.columns);
        table.delete_and_reinsert == DeleteAndReinsert::Allowed
            && columns.all(|(sent, column)| sent.is_some() || column.image == Image::Tenant)
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
    /// The last one asked for, which the next row is mostly about too.
    last: Option<(usize, Resolution)>,
    /// Mappings onto the tables of tenants, by address of the relation that `seen` keeps and by table.
    of_tenants: HashMap<(usize, usize), Arc<Mapping>>,
}

/// Where the rows of a change go: one table, or two when a row moves from one tenant's schema to another's.
pub(crate) type Routed<'a> = [Option<(Arc<Mapping>, Scoped<'a>)>; 2];

impl Resolver {
    pub(crate) fn new(generation: Arc<Generation>) -> Self {
        Self {
            generation,
            seen: HashMap::new(),
            last: None,
            of_tenants: HashMap::new(),
        }
    }

    /// Goes on with a generation that has more tables behind the known ones.
    pub(crate) fn extend(&mut self, generation: Arc<Generation>) {
        self.generation = generation;
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
        if let Some((last, known)) = &self.last
            && *last == address
        {
            return Ok(known.clone());
        }
        if let Some((_, known)) = self.seen.get(&address) {
            self.last = Some((address, known.clone()));
            return Ok(known.clone());
        }
        let resolution = resolve(&self.generation, relation)?;
        if self.seen.len() >= RELATIONS_MAX {
            self.seen.clear();
            self.of_tenants.clear();
            self.last = None;
        }
        self.seen
            .insert(address, (Arc::clone(relation), resolution.clone()));
        Ok(resolution)
    }

    /// Where the rows of a change of this resolved relation go.
    ///
    /// # Errors
    /// `tenant_scope_unknown`, and what keeps rows of this shape from a tenant's table: `type_modifier_widened`,
    /// `schema_change_destructive`.
    pub(crate) fn route<'a>(
        &mut self,
        relation: &Arc<Relation>,
        mapping: &Arc<Mapping>,
        scoped: Scoped<'a>,
    ) -> Result<Routed<'a>, Error> {
        let table = self.generation.tables.get(mapping.table);
        let scope = table.and_then(|table| table.scope.as_ref());
        if scope.is_none_or(|scope| scope.template().is_none()) {
            return Ok([Some((Arc::clone(mapping), scoped)), None]);
        }
        let (new, old) = (scoped.new_tenant(), scoped.old_tenant());
        if let (Some(new), Some(old)) = (new, old)
            && new != old
        {
            let left = self.of_tenant(relation, mapping, old)?;
            let entered = self.of_tenant(relation, mapping, new)?;
            return Ok([
                Some((left, scoped.only(Part::Leaves))),
                Some((entered, scoped.only(Part::Enters))),
            ]);
        }
        let Some(tenant) = new.or(old) else {
            return Err(Error::new(
                Reason::TenantRequired,
                Site::table(&relation.name),
            ));
        };
        let mapping = self.of_tenant(relation, mapping, tenant)?;
        Ok([Some((mapping, scoped)), None])
    }

    fn of_tenant(
        &mut self,
        relation: &Arc<Relation>,
        mapping: &Arc<Mapping>,
        tenant: &Tenant,
    ) -> Result<Arc<Mapping>, Error> {
        let unknown = || Error::new(Reason::TenantScopeUnknown, Site::table(&relation.name));
        let index = self.generation.table_of(mapping.table, tenant);
        let index = index.ok_or_else(unknown)?;
        let address = Arc::as_ptr(relation).addr();
        if let Some(known) = self.of_tenants.get(&(address, index)) {
            return Ok(Arc::clone(known));
        }
        let table = self.generation.tables.get(index).ok_or_else(unknown)?;
        refuse_unfit(table, relation)?;
        // Its columns are in declaration order too.
        let own = Arc::new(Mapping {
            table: index,
            ..Mapping::clone(mapping)
        });
        self.of_tenants.insert((address, index), Arc::clone(&own));
        Ok(own)
    }
}

/// A tenant's table can be admitted later than the relation was announced, so whether rows of that shape fit it is asked
/// when the first one comes.
fn refuse_unfit(table: &Table, relation: &Relation) -> Result<(), Error> {
    for column in &table.columns {
        let sent = column.position_in(relation);
        let Some(sent) = sent.and_then(|position| relation.columns.get(position)) else {
            continue;
        };
        let reason = if sent.type_oid == column.source_type.oid {
            (!still_fits(column, sent.type_modifier)).then_some(Reason::TypeModifierWidened)
        } else {
            let fits = fits_as_text(column, sent.type_oid, sent.type_modifier);
            (!fits).then_some(Reason::SchemaChangeDestructive)
        };
        if let Some(reason) = reason {
            let site = Site::table(&relation.name).column(&sent.name);
            return Err(Error::new(reason, site));
        }
    }
    Ok(())
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
            // The sink writes it.
            None if column.image == Image::Tenant => false,
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
