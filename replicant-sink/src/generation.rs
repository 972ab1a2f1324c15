//! What admission proved: an immutable picture of every mapped table, both sides, from which all SQL is derived.
//!
//! A generation is made once per connect, before the first row, and never changes. Delivery looks nothing up in a
//! catalog: what it needs is here.

mod printed;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use replicant_checkpoint::contract::resource::{ColumnSpec, ResourceSpec, Role};
use replicant_checkpoint::store::{FormerNames, Holds, Mapped};
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::position::{CommitLsn, WalEnd};
use replicant_transport::relation::Relation;
use replicant_transport::sink::ValueFormat;
use replicant_transport::source::PgType;

use crate::doctor::Finding;

use crate::error::Error;
use crate::hooked::Hooks;
use crate::scope::{KeptBy, Scope};
use crate::seal::{Groups, Keyring, Seals};
use crate::tenant::Tenant;

/// Everything that holds for one session.
#[derive(Clone)]
pub struct Generation {
    /// How far the source's WAL reached when its catalog was read: what was written before may have older shapes.
    pub admitted_at: WalEnd,
    /// How values travel in the stream.
    pub format: ValueFormat,
    /// Mapped tables, parents before children where the destination's foreign keys say so. The tables of tenants that
    /// have schemas of their own come last, as they are found.
    pub tables: Vec<Table>,
    /// Index into `tables` by source name.
    pub by_source: HashMap<QualifiedName, usize>,
    /// Index into `tables` by the index of the table that stands for those of all tenants, and by tenant.
    pub by_tenant: HashMap<usize, HashMap<Tenant, usize>>,
    /// Published tables whose changes are deliberately dropped.
    pub ignored: HashSet<QualifiedName>,
    /// How the destination's constraints are handled.
    pub constraints: Constraints,
    /// What an operator should know although it refuses nothing.
    pub notices: Vec<Notice>,
    /// What changes call, and the tables that hooks alone write.
    pub(crate) hooks: Hooks,
    /// Its destination transactions, each of which has data keys of its own.
    pub(crate) groups: Groups,
}

impl Generation {
    /// Every destination table that a delivery may write.
    pub(crate) fn written(&self) -> impl Iterator<Item = &Table> {
        let auxiliaries = self.hooks.auxiliaries.iter();
        self.tables
            .iter()
            .chain(auxiliaries.map(|auxiliary| &auxiliary.table))
    }

    /// Was a transaction written before the catalog was read that this generation was admitted with?
    pub(crate) fn is_later_than(&self, commit: CommitLsn) -> bool {
        commit.lsn() < self.admitted_at.lsn()
    }

    /// Adds the table of a tenant behind the known ones.
    pub(crate) fn add(&mut self, stands_for: usize, tenant: Tenant, table: Table) {
        let index = self.tables.len();
        self.tables.push(table);
        let tables = self.by_tenant.entry(stands_for).or_default();
        tables.insert(tenant, index);
    }

    /// Is this one of its mapped tables?
    pub(crate) fn holds(&self, target: &QualifiedName) -> bool {
        self.tables.iter().any(|table| table.target == *target)
    }

    /// What the checkpoint has to know of the mapped source tables.
    pub(crate) fn mapped(&self) -> Vec<Mapped> {
        let tables = self.tables.iter().enumerate();
        tables
            .filter(|(_, table)| !table.is_of_one_tenant())
            .map(|(index, table)| {
                let held_in = self.written_tables(index).into_iter();
                let held_in = held_in.filter_map(|index| self.tables.get(index));
                table.mapped(held_in.map(|table| table.target.clone()).collect())
            })
            .collect()
    }

    /// Does every tenant have a schema, for the rows of some table?
    pub(crate) fn has_schemas_of_tenants(&self) -> bool {
        self.tables.iter().any(Table::stands_for_many)
    }

    /// The table of a tenant, of those that this table stands for.
    pub(crate) fn table_of(&self, stands_for: usize, tenant: &Tenant) -> Option<usize> {
        self.by_tenant.get(&stands_for)?.get(tenant).copied()
    }

    /// The tables that hold what is mirrored into this one: itself, or those that it stands for.
    pub(crate) fn written_tables(&self, table: usize) -> Vec<usize> {
        let stands = |table: &Table| table.stands_for_many();
        if !self.tables.get(table).is_some_and(stands) {
            return vec![table];
        }
        let of_tenants = self.by_tenant.get(&table);
        let mut tables: Vec<usize> = of_tenants
            .into_iter()
            .flat_map(|tables| tables.values().copied())
            .collect();
        tables.sort_unstable();
        tables
    }

    /// Is anything sealed?
    pub(crate) fn seals(&self) -> bool {
        self.written().any(|table| table.seals.any())
    }

    /// Gives the key that seals to the tables that seal.
    ///
    /// # Errors
    /// `sealing_failed`.
    pub(crate) fn unlock(&mut self, keys: &Keyring) -> Result<(), Error> {
        let auxiliaries = self.hooks.auxiliaries.iter_mut();
        let auxiliaries = auxiliaries.map(|auxiliary| &mut auxiliary.table);
        for table in self.tables.iter_mut().chain(auxiliaries) {
            if let Some(seals) = Arc::get_mut(&mut table.seals) {
                let site = Site::table(&table.shown);
                seals
                    .unlock(keys, &self.groups)
                    .map_err(|reason| Error::new(reason, site))?;
            }
        }
        Ok(())
    }

    /// Learns under which names the columns were mirrored before.
    pub(crate) fn remember(&mut self, names: &FormerNames) {
        for table in &mut self.tables {
            let of_source = table.columns.iter_mut();
            for column in of_source.filter(|column| column.image != Image::Tenant) {
                let former = names.of(&table.source, column.source_attnum, &column.source);
                column.formerly = former.cloned().collect();
            }
        }
    }

    /// Learns what the histories hold from before their checkpoint.
    pub(crate) fn leave_out(&mut self, recorded: &HashMap<QualifiedName, CommitLsn>) {
        for table in &mut self.tables {
            if let Held::History(history) = &mut table.held {
                let until = recorded.get(&table.source);
                history.recorded_until = until.and_then(|until| until.lsn().to_bigint());
            }
        }
    }
}

/// Something that can part the mirror from its source without any message about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// A partitioned source table, published as one: TRUNCATE, DROP and DETACH of a single partition are not
    /// replicated, so the mirror keeps those rows; nor are the rows of an attached one. Source: PostgreSQL
    /// documentation, "CREATE PUBLICATION", `publish_via_partition_root`.
    PartitionsUnseen {
        /// The source table.
        table: QualifiedName,
    },
    /// `skip(...)` names a column that the source table does not have: it was dropped or renamed, or is misspelt.
    SkipStale {
        /// The source table.
        table: QualifiedName,
        /// The name.
        column: Ident,
    },
}

impl Notice {
    /// Stable code; `explain` knows it.
    pub fn code(&self) -> &'static str {
        self.finding().code()
    }

    /// What it is among the findings of a diagnosis.
    pub(crate) fn finding(&self) -> Finding {
        match self {
            Self::PartitionsUnseen { .. } => Finding::SourcePartitionsUnseen,
            Self::SkipStale { .. } => Finding::SourceSkipStale,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartitionsUnseen { table } => write!(f, "{table}"),
            Self::SkipStale { table, column } => write!(f, "{table}, column {column}"),
        }
    }
}

/// How the destination's constraints are handled during a delivery.
#[derive(Clone, PartialEq, Eq)]
pub enum Constraints {
    /// Checked by the destination, foreign keys at commit.
    Deferred {
        /// Deferrable foreign keys touching mirrored tables; each delivery defers them by name.
        foreign_keys: Vec<QualifiedName>,
        /// Deferrable unique constraints; each delivery defers them by name and its COMMIT judges. A source
        /// transaction may be written in several flushes, and between two of them one value may lawfully be in two
        /// rows. Nothing is lost by not asking earlier: every rung of the ladder leaves the same rows behind, so
        /// none could resolve what is wrong at the end of a flush.
        unique: Vec<QualifiedName>,
    },
    /// `session_replication_role = replica`: the source already enforced them. Admission proved that nothing
    /// undeclared is silenced.
    Trusted,
}

/// One mapped table.
#[derive(Clone)]
pub struct Table {
    /// What was declared.
    pub spec: &'static ResourceSpec,
    /// Source table.
    pub source: QualifiedName,
    /// Source object id at admission.
    pub source_oid: u32,
    /// Destination table.
    pub target: QualifiedName,
    /// What messages call it. The name of a tenant's schema would tell the tenant, so there it is the declared one,
    /// `tenant_{}`.
    pub shown: QualifiedName,
    /// How its rows belong to tenants.
    pub scope: Option<Scope>,
    /// Names of its unique indexes and constraints, and of those of its partitions, as an error may name them. Of the table
    /// of one tenant those that are made of declared names: any other may tell the tenant.
    pub constraints: Vec<Ident>,
    /// Mapped columns in declaration order; destination-made columns are not among them.
    pub columns: Vec<Column>,
    /// Those among them that hold across tenants: their columns are not the tenant's.
    pub across_tenants: Vec<Ident>,
    /// Deferrable constraints that touch the table of one tenant; a delivery defers them when it writes the table.
    pub deferred: Vec<QualifiedName>,
    /// How a destination row is found.
    pub row_match: RowMatch,
    /// Which rows an upsert can meet.
    pub upsert_meets: UpsertMeets,
    /// May changes of one key be folded and keys be reordered?
    pub folding: Folding,
    /// The destination has an `GENERATED ALWAYS AS IDENTITY` column among the mapped ones.
    pub overriding_system_value: bool,
    /// May a row be replaced by a new one? Otherwise a key changes in place, and the rung that deletes and
    /// re-inserts touched keys is not available.
    pub delete_and_reinsert: DeleteAndReinsert,
    /// How the source's rows are held, with the columns that the sink fills by itself.
    pub held: Held,
    /// Which columns are sealed, and what seals them.
    pub seals: Arc<Seals>,
}

impl Table {
    /// Where something is wrong with it, as messages say it.
    pub(crate) fn site(&self) -> Site {
        Site::table(&self.shown)
    }

    /// Does it only stand for the tables of tenants?
    pub(crate) fn stands_for_many(&self) -> bool {
        let scope = self.scope.as_ref();
        scope.is_some_and(|scope| scope.template().is_some())
    }

    /// Is it the table of one tenant?
    pub(crate) fn is_of_one_tenant(&self) -> bool {
        let scope = self.scope.as_ref();
        scope.is_some_and(|scope| matches!(scope.kept_by, KeptBy::Schema(_)))
    }

    /// What the checkpoint remembers of it, and where its rows are.
    fn mapped(&self, held_in: Vec<QualifiedName>) -> Mapped {
        let columns = self.columns.iter();
        let columns = columns.filter(|column| column.image != Image::Tenant);
        Mapped {
            source: self.source.clone(),
            source_oid: self.source_oid,
            columns: columns
                .map(|column| (column.source.clone(), column.source_attnum))
                .collect(),
            target: self.shown.clone(),
            held_in,
            holds: self.held.holds(),
        }
    }
}

/// How the destination holds the rows of a source table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// One row per source row.
    Mirror,
    /// Every version of every source row with its window; `row_match` is the business key.
    History(History),
    /// One row per change.
    AppendLog(AppendLog),
}

impl Held {
    /// What the checkpoint has to know of it.
    fn holds(&self) -> Holds {
        match self {
            Self::Mirror => Holds::Rows,
            Self::History(history) => Holds::Versions {
                opened: history.from_lsn.clone(),
                closed: history.to_lsn.clone(),
            },
            Self::AppendLog(log) => {
                let axes = AXES.map(|axis| log.column(axis).cloned());
                match axes {
                    [
                        Some(system),
                        Some(database),
                        Some(slot),
                        Some(commit_lsn),
                        Some(_),
                    ] => Holds::Events {
                        system,
                        database,
                        slot,
                        commit_lsn,
                    },
                    // Admission proved that every axis has a column.
                    _ => Holds::Rows,
                }
            }
        }
    }
}

/// Destination columns of a history table that hold the window of a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    /// Commit LSN that opened the version.
    pub from_lsn: Ident,
    /// Commit LSN that closed it; NULL while it is open.
    pub to_lsn: Ident,
    /// Commit time that opened it.
    pub from_time: Option<Ident>,
    /// Commit time that closed it.
    pub to_time: Option<Ident>,
    /// True while it is open.
    pub current: Option<Ident>,
    /// The last commit LSN that the table held when its checkpoint began. An earlier checkpoint delivered what came
    /// before, whole transactions at a time, and may be sent it again.
    pub recorded_until: Option<i64>,
}

impl History {
    /// Does the table hold this transaction from an earlier life of its checkpoint?
    pub(crate) fn has(&self, commit_lsn: i64) -> bool {
        self.recorded_until.is_some_and(|until| commit_lsn <= until)
    }
}

/// Destination columns of an append log that say where an event comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppendLog {
    /// Every such column and what it holds, in declaration order.
    pub stamps: Vec<Stamp>,
    /// The source, as every event names it.
    pub source: SourceNames,
}

impl AppendLog {
    /// The column that holds this.
    pub fn column(&self, role: Role) -> Option<&Ident> {
        let stamp = self.stamps.iter().find(|stamp| stamp.role == role);
        stamp.map(|stamp| &stamp.target)
    }
}

/// Where the events of a session come from: three of the five parts of their identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceNames {
    /// System identifier, in decimal.
    pub system: String,
    /// Database.
    pub database: String,
    /// Replication slot.
    pub slot: String,
}

/// A destination column that the sink fills by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// What it holds.
    pub role: Role,
    /// The column.
    pub target: Ident,
}

/// The five parts of an event's identity, in index order.
pub const AXES: [Role; 5] = [
    Role::SourceSystem,
    Role::SourceDatabase,
    Role::Slot,
    Role::CommitLsn,
    Role::Ordinal,
];

/// Is deleting a row and inserting its final image harmless here?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeleteAndReinsert {
    /// Nothing observes it.
    Allowed,
    /// A foreign key action would, or values are lost that only the destination has: a key it makes itself, or a
    /// column that the mirror does not write.
    Forbidden,
}

/// May changes be folded per key?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folding {
    /// The destination's equality of every key column is equality of the text: net effects per key, set-based.
    PerKey,
    /// It is coarser (numeric, citext, char(n), float, nondeterministic collation) or there is no key, or a user
    /// trigger counts rows: every change in source order.
    RowOrder,
}

/// How a destination row is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowMatch {
    /// By a unique index.
    Key(Vec<KeyColumn>),
    /// By every column's image, NULLs equal, exactly one of several equal rows (a table without a key, under FULL).
    WholeRow,
}

impl RowMatch {
    /// The key; nothing for a table without one.
    pub fn key(&self) -> &[KeyColumn] {
        match self {
            Self::Key(columns) => columns,
            Self::WholeRow => &[],
        }
    }
}

/// Which rows can an upsert meet?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UpsertMeets {
    /// The row of the same key, which names the tenant where there is one.
    Own,
    /// One of any tenant: the unique index of an identity of all tenants does not name this column, the tenant's. The
    /// row of another tenant is left alone.
    AnyTenants(usize),
}

/// One column of a key and the operator that compares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Index into the table's columns.
    pub column: usize,
    /// The equality operator of the index's operator class, written `OPERATOR(schema.=)`.
    pub equals: String,
}

/// One mapped column.
#[derive(Clone, Debug)]
pub struct Column {
    /// What was declared.
    pub spec: &'static ColumnSpec,
    /// Source column.
    pub source: Ident,
    /// Names it had before while it was mirrored; rows written then still carry those.
    pub formerly: Vec<Ident>,
    /// Its attribute number at admission.
    pub source_attnum: i16,
    /// Its type on the source.
    pub source_type: PgType,
    /// Destination column.
    pub target: Ident,
    /// Its type in the destination.
    pub target_type: PgType,
    /// The destination column is an identity column: it is inserted with OVERRIDING SYSTEM VALUE and never SET.
    pub target_identity: bool,
    /// Which image of a change its value is taken from.
    pub image: Image,
    /// How a cell becomes a statement parameter.
    pub travel: Travel,
}

/// Which image of a change a column's value is taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Image {
    /// The row as the change left it; the deleted row.
    Row,
    /// The row before the change (`#[replicant(before = ...)]`); NULL for an inserted one.
    Before,
    /// None: it holds the row's tenant, which the source does not have in a column.
    Tenant,
}

impl Column {
    /// Where it lies in rows of this shape, under its name or under one it had before.
    pub(crate) fn position_in(&self, relation: &Relation) -> Option<usize> {
        if self.image == Image::Tenant {
            return None;
        }
        let place = |name: &Ident| relation.columns.iter().position(|sent| sent.name == *name);
        place(&self.source).or_else(|| self.formerly.iter().find_map(place))
    }

    /// Is it what rows carry under this name?
    pub(crate) fn is_sent_as(&self, name: &Ident) -> bool {
        self.image != Image::Tenant && (self.source == *name || self.formerly.contains(name))
    }
}

/// How a cell becomes a statement parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Travel {
    /// Binary cells are bound as they are, as elements of an array of the source's base type.
    Binary {
        /// Object id of the source's base type.
        element_oid: u32,
        /// Object id of the array of it.
        array_oid: u32,
        /// How the value becomes one of the destination's base type, when that differs.
        cast: Option<Conversion>,
        /// The binary form is what `COPY (FORMAT binary)` into the destination column expects.
        copy: CopyBinary,
    },
    /// Text cells are bound as elements of a `text[]` and read as the destination's base type in the SELECT list.
    Text {
        /// How.
        cast: Conversion,
    },
    /// Text cells are sealed, and bound as elements of a `bytea[]`. A binary cell is an envelope that was read back.
    Sealed,
}

/// How a bound value becomes one of the destination's base type, without a modifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// By a cast to this type, schema-qualified. From text this is the type's input function, because no other cast is
    /// declared.
    Cast(String),
    /// From text by the input function of this array type, as its only element: the type's own input function serves many
    /// types and returns none of them.
    ThroughArray(String),
    /// From text by the type's input function itself: a cast from text is declared, and need not do the same.
    Input {
        /// The function, schema-qualified.
        function: String,
        /// What it takes behind the text: nothing, or object id and modifier.
        further: String,
    },
}

/// Can a binary cell go straight into the destination by COPY?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyBinary {
    /// Yes: the types are the same.
    Same,
    /// No: it needs a cast.
    NeedsCast,
}
