//! Whose rows are these? Both sides of every change are told before anything is planned, and so before anything is
//! written.
//!
//! A change is planned as a [`Scoped`] one, which nothing else makes: no row reaches a statement without its tenant.
//! What a tenant is told by is the row as the source sent it; what an update did not send is in its whole old row.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::{ChangeKind, OldRow};
use replicant_transport::error::Site;
use replicant_transport::pg_type::{PgType, TypeKind};
use replicant_transport::position::CommitLsn;
use replicant_transport::relation::Relation;

use super::resolve::{Mapping, Resolution, Resolver};
use super::{Piece, numbered_with, relation_of};
use crate::error::Error;
use crate::generation::{Generation, Held, Table};
use crate::reason::Reason;
use crate::scope::{Scope, ToldBy};
use crate::tenant::{RowView, Tenant, TenantError};

/// The tenants of some changes, by the number of the change.
#[derive(Debug, Default)]
pub(crate) struct Tenants {
    known: Vec<Tenant>,
    /// Empty when no table has tenants whose text is needed.
    sides: Vec<Sides>,
    unseen: Vec<Unseen>,
    /// Tables that stand for those of tenants, and are emptied for all of them.
    emptied: Vec<usize>,
    /// Tenants whose tables hooks may look at, some of which are not admitted.
    looked_at: Vec<(usize, Tenant)>,
}

/// The tenants of a change, as places among the known ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sides {
    new: Option<usize>,
    old: Option<usize>,
}

/// A tenant whose tables are not admitted yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unseen {
    /// Index of the table that stands for it.
    pub(crate) table: usize,
    pub(crate) tenant: Tenant,
    /// The first source transaction that has a row of it, as far as it is known.
    pub(crate) at: Option<CommitLsn>,
}

/// One side of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    New,
    Old,
}

impl Side {
    const fn as_str(self) -> &'static str {
        match self {
            Self::New => "of the new row",
            Self::Old => "of the old row",
        }
    }
}

/// Which part of a change concerns a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// The row leaves it for another tenant's.
    Leaves,
    /// The row comes from another tenant's.
    Enters,
}

/// A row change and whose rows it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scoped<'a> {
    kind: &'a ChangeKind,
    new: Option<&'a Tenant>,
    old: Option<&'a Tenant>,
    part: Part,
}

impl<'a> Scoped<'a> {
    pub(crate) fn kind(&self) -> &'a ChangeKind {
        self.kind
    }

    pub(crate) fn new_tenant(&self) -> Option<&'a Tenant> {
        self.new
    }

    pub(crate) fn old_tenant(&self) -> Option<&'a Tenant> {
        self.old
    }

    pub(crate) fn part(&self) -> Part {
        self.part
    }

    /// The part of it that concerns one of two tables.
    pub(super) fn only(self, part: Part) -> Self {
        Self { part, ..self }
    }
}

impl Tenants {
    /// No change has one.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self {
        known: Vec::new(),
        sides: Vec::new(),
        unseen: Vec::new(),
        emptied: Vec::new(),
        looked_at: Vec::new(),
    };

    /// Tells the tenants of every change of the pieces.
    ///
    /// # Errors
    /// `tenant_required`, `tenant_resolution_failed`, and those of [`Resolver::resolve`].
    pub(crate) fn of(resolver: &mut Resolver, pieces: &[Piece]) -> Result<Self, Error> {
        let generation = Arc::clone(resolver.generation());
        let mut told = Self::default();
        if generation.tables.iter().all(|table| table.scope.is_none()) {
            return Ok(told);
        }
        let mut places: HashMap<Tenant, usize> = HashMap::new();
        let mut asked: HashSet<(usize, usize)> = HashSet::new();
        for (number, piece, change) in numbered_with(pieces) {
            if let ChangeKind::Truncate { relations, .. } = &change.kind {
                told.note_emptied(resolver, relations)?;
            }
            let Some(relation) = relation_of(&change.kind) else {
                continue;
            };
            let Resolution::Mapped(mapping) = resolver.resolve(relation)? else {
                continue;
            };
            let Some(table) = generation.tables.get(mapping.table) else {
                continue;
            };
            let Some(scope) = &table.scope else {
                continue;
            };
            let teller = Teller {
                table,
                scope,
                mapping: &mapping,
                relation,
                as_text: scope.needs_text(),
            };
            let (new, old) = teller.sides(&change.kind)?;
            let mut place = |tenant: Option<Tenant>| {
                let tenant = tenant?;
                let next = told.known.len();
                let known = *places.entry(tenant.clone()).or_insert(next);
                if known == next {
                    told.known.push(tenant);
                }
                Some(known)
            };
            let sides = Sides {
                new: place(new),
                old: place(old),
            };
            if sides == Sides::default() {
                continue;
            }
            for place in [sides.new, sides.old].into_iter().flatten() {
                if scope.template().is_some()
                    && asked.insert((mapping.table, place))
                    && let Some(tenant) = told.known.get(place)
                    && generation.table_of(mapping.table, tenant).is_none()
                {
                    told.unseen.push(Unseen {
                        table: mapping.table,
                        tenant: tenant.clone(),
                        at: piece.commit_lsn,
                    });
                }
            }
            told.set(number, sides);
        }
        Ok(told)
    }

    fn set(&mut self, number: u64, sides: Sides) {
        let Ok(place) = usize::try_from(number) else {
            return;
        };
        if self.sides.len() <= place {
            self.sides.resize(place + 1, Sides::default());
        }
        if let Some(at) = self.sides.get_mut(place) {
            *at = sides;
        }
    }

    fn note_emptied(
        &mut self,
        resolver: &mut Resolver,
        relations: &[Arc<Relation>],
    ) -> Result<(), Error> {
        for relation in relations {
            let Resolution::Mapped(mapping) = resolver.resolve(relation)? else {
                continue;
            };
            let table = resolver.generation().tables.get(mapping.table);
            if table.is_some_and(Table::stands_for_many) && !self.emptied.contains(&mapping.table) {
                self.emptied.push(mapping.table);
            }
        }
        Ok(())
    }

    /// Tenants whose tables the generation does not have.
    pub(crate) fn unseen(&self) -> &[Unseen] {
        &self.unseen
    }

    /// Tables that stand for those of tenants, every one of which is emptied.
    pub(crate) fn emptied(&self) -> &[usize] {
        &self.emptied
    }

    /// Tenants of whose tables those that exist are wanted, and none has to.
    pub(crate) fn looked_at(&self) -> &[(usize, Tenant)] {
        &self.looked_at
    }

    /// Does the generation have every table that is wanted?
    pub(crate) fn are_admitted(&self) -> bool {
        self.unseen.is_empty() && self.emptied.is_empty() && self.looked_at.is_empty()
    }

    /// Notes that hooks may look at these tables of these owners. `asked` knows for which ones that was noted before:
    /// one that does not exist is not looked for at every change.
    pub(crate) fn note_looked_at(
        &mut self,
        generation: &Generation,
        tables: &[usize],
        owners: &Owners,
        asked: &mut HashSet<(usize, Tenant)>,
    ) {
        for &stands_for in tables {
            for tenant in [&owners.new, &owners.old].into_iter().flatten() {
                let lacks = generation.table_of(stands_for, tenant).is_none();
                if lacks && asked.insert((stands_for, tenant.clone())) {
                    self.looked_at.push((stands_for, tenant.clone()));
                }
            }
        }
    }

    /// A change with its tenants.
    pub(super) fn scoped<'a>(&'a self, number: u64, kind: &'a ChangeKind) -> Scoped<'a> {
        let sides = usize::try_from(number)
            .ok()
            .and_then(|place| self.sides.get(place));
        let sides = sides.copied().unwrap_or_default();
        let known = |place: Option<usize>| self.known.get(place?);
        Scoped {
            kind,
            new: known(sides.new),
            old: known(sides.old),
            part: Part::Whole,
        }
    }
}

/// Whose the rows of one change are, as hooks see it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Owners {
    new: Option<Tenant>,
    old: Option<Tenant>,
}

impl Owners {
    /// Tells the tenants of a change of this table; none for a table without tenants.
    ///
    /// # Errors
    /// `tenant_required`, `tenant_resolution_failed`.
    pub(crate) fn of(table: &Table, mapping: &Mapping, kind: &ChangeKind) -> Result<Self, Error> {
        let (Some(scope), Some(relation)) = (&table.scope, relation_of(kind)) else {
            return Ok(Self::default());
        };
        let teller = Teller {
            table,
            scope,
            mapping,
            relation,
            as_text: true,
        };
        let (new, old) = teller.sides(kind)?;
        Ok(Self { new, old })
    }

    /// Whose the new row is, or the old one.
    pub(crate) fn tenant(&self, new: bool) -> Option<&Tenant> {
        match new {
            true => self.new.as_ref(),
            false => self.old.as_ref(),
        }
    }

    /// Does the row go from one tenant to another?
    pub(crate) fn moved(&self) -> bool {
        self.new.is_some() && self.old.is_some() && self.new != self.old
    }
}

/// Tells the tenants of one table's rows.
struct Teller<'t> {
    table: &'t Table,
    scope: &'t Scope,
    mapping: &'t Mapping,
    relation: &'t Relation,
    /// Is what it is wanted, and not only that there is one?
    as_text: bool,
}

impl Teller<'_> {
    /// The new row first, then the old one. An event of a log belongs to whose row it tells; only whether that changed
    /// is asked of the row before.
    fn sides(&self, kind: &ChangeKind) -> Result<(Option<Tenant>, Option<Tenant>), Error> {
        let logged = matches!(self.table.held, Held::AppendLog(_));
        match kind {
            ChangeKind::Insert { new, .. } => Ok((self.tell(Side::New, new, None)?, None)),
            ChangeKind::Update {
                new,
                old: Some(OldRow::Full(old)),
                ..
            } => {
                let told = self.tell(Side::New, new, Some(old))?;
                let before = self.tell(Side::Old, old, None);
                let before = match before {
                    Err(_) if logged => None,
                    before => before?,
                };
                Ok((told, before))
            }
            ChangeKind::Delete {
                old: OldRow::Full(old),
                ..
            } => Ok((None, self.tell(Side::Old, old, None)?)),
            // Without its whole old row nobody knows whose it was.
            ChangeKind::Update { .. } | ChangeKind::Delete { .. } => {
                let fact = format!("{}, which was not sent whole", Side::Old.as_str());
                Err(self.stop(Reason::TenantRequired, fact))
            }
            ChangeKind::Truncate { .. } | ChangeKind::Message { .. } => Ok((None, None)),
        }
    }

    /// The row's tenant, where its text is needed; else only that it has one.
    fn tell(
        &self,
        side: Side,
        row: &Tuple,
        whole: Option<&Tuple>,
    ) -> Result<Option<Tenant>, Error> {
        let cell = |position: usize| match (row.get(position), whole) {
            (Some(Cell::Unchanged), Some(whole)) => whole.get(position),
            (cell, _) => cell,
        };
        match self.scope.told_by {
            ToldBy::Column(column) => {
                let told = self.mapping.positions.get(column).copied().flatten();
                let cell = told.and_then(cell).unwrap_or(Cell::Null);
                let described = self.table.columns.get(column);
                if described.is_none_or(|described| says_nothing(cell, &described.source_type)) {
                    return Err(self.stop(Reason::TenantRequired, side.as_str()));
                }
                if !self.as_text {
                    return Ok(None);
                }
                let Cell::Text(text) = cell else {
                    return Err(self.stop(Reason::TenantResolutionFailed, side.as_str()));
                };
                let text = std::str::from_utf8(text)
                    .map_err(|_| self.stop(Reason::TenantResolutionFailed, side.as_str()))?;
                self.judged(side, Tenant::new(text)).map(Some)
            }
            ToldBy::Function { call, args } => {
                let names = self.names();
                let cells: Vec<Cell<'_>> = (0..names.len())
                    .map(|position| cell(position).unwrap_or(Cell::Unchanged))
                    .collect();
                let view = RowView::new(&names, &cells);
                let told = catch_unwind(AssertUnwindSafe(|| call(&view, args)));
                let told = told.map_err(|said| {
                    // Dropping it runs the host's code again, which may panic again.
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(said)));
                    let fact = format!("{}: the function panicked", side.as_str());
                    self.stop(Reason::TenantResolutionFailed, fact)
                })?;
                self.judged(side, told).map(Some)
            }
        }
    }

    fn judged(&self, side: Side, told: Result<Tenant, TenantError>) -> Result<Tenant, Error> {
        told.map_err(|why| match why {
            TenantError::Missing => self.stop(Reason::TenantRequired, side.as_str()),
            TenantError::Unknown | TenantError::Unchanged | TenantError::Column => self.stop(
                Reason::TenantResolutionFailed,
                format!("{}: {why}", side.as_str()),
            ),
        })
    }

    /// What the function knows the columns by: a mapped one by the name it has now.
    fn names(&self) -> Vec<&str> {
        let sent = self.relation.columns.iter();
        let mut names: Vec<&str> = sent.map(|column| column.name.as_str()).collect();
        for (column, position) in self.table.columns.iter().zip(&self.mapping.positions) {
            if let Some(name) = position.and_then(|position| names.get_mut(position)) {
                *name = column.source.as_str();
            }
        }
        names
    }

    fn stop(&self, reason: Reason, fact: impl Into<String>) -> Error {
        let site = Site::table(&self.table.source);
        let column = match self.scope.told_by {
            ToldBy::Column(column) => self.table.columns.get(column),
            ToldBy::Function { .. } => None,
        };
        let site = match column {
            Some(column) => site.column(&column.source),
            None => site,
        };
        Error::new(reason, site.fact(fact))
    }
}

const BOOL: u32 = 16;
const NAME: u32 = 19;
const TEXT: u32 = 25;
const BPCHAR: u32 = 1042;
const VARCHAR: u32 = 1043;

/// NULL, not sent, false and blank name no tenant.
fn says_nothing(cell: Cell<'_>, ty: &PgType) -> bool {
    let blank = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(|text| text.trim().is_empty());
    let reads_alike =
        matches!(ty.base_oid, NAME | TEXT | BPCHAR | VARCHAR) || ty.base_kind == TypeKind::Enum;
    match cell {
        Cell::Null | Cell::Unchanged => true,
        Cell::Text(b"f") | Cell::Binary([0]) if ty.base_oid == BOOL => true,
        Cell::Text(bytes) => blank(bytes),
        // Four spaces are an integer too.
        Cell::Binary(bytes) => reads_alike && blank(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::pg_type;

    #[test]
    fn null_false_and_blank_name_no_tenant_in_either_format() {
        let (bool, int4, text) = (
            pg_type("pg_catalog", "bool", BOOL),
            pg_type("pg_catalog", "int4", 23),
            pg_type("pg_catalog", "text", TEXT),
        );
        for (cell, ty, nothing) in [
            (Cell::Null, &text, true),
            (Cell::Unchanged, &text, true),
            (Cell::Text(b""), &text, true),
            (Cell::Text(b" \t\n"), &text, true),
            (Cell::Binary(b"  "), &text, true),
            (Cell::Text("\u{3000}".as_bytes()), &text, true),
            (Cell::Text(b"f"), &text, false),
            (Cell::Text(b"f"), &bool, true),
            (Cell::Text(b"t"), &bool, false),
            (Cell::Binary(&[0]), &bool, true),
            (Cell::Binary(&[1]), &bool, false),
            (Cell::Binary(b"    "), &int4, false),
            (Cell::Text(b"0"), &int4, false),
            (Cell::Text(b" a "), &text, false),
        ] {
            assert_eq!(says_nothing(cell, ty), nothing, "{:?}", ty.base_oid);
        }
    }
}
