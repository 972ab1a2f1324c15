//! What one session found on the source: identity, server, publications, tables, slot.
//!
//! Everything here is read after IDENTIFY_SYSTEM and before START_REPLICATION, on a connection that reached the
//! same system, database and timeline as the one that streams.

use std::fmt;
use std::str::FromStr;

use crate::ident::{Ident, QualifiedName, SlotName};
use crate::position::{EndLsn, WalEnd};
use crate::relation::ReplicaIdentity;

/// The number `initdb` gave a cluster. Above 2^53, so never a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SystemIdentifier(u64);

impl SystemIdentifier {
    /// Wraps the number the server reported.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The number.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Display for SystemIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Which source an operator expects: `<system identifier>/<database>`.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct ExpectedSource {
    /// The cluster.
    pub system: SystemIdentifier,
    /// The database in it.
    pub database: String,
}

/// The text was not `<system identifier>/<database>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotASource;

impl fmt::Display for NotASource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected <system identifier>/<database>, for example 7431250023019842563/shop")
    }
}

impl std::error::Error for NotASource {}

impl FromStr for ExpectedSource {
    type Err = NotASource;

    fn from_str(text: &str) -> Result<Self, NotASource> {
        let (system, database) = text.split_once('/').ok_or(NotASource)?;
        let canonical = !system.is_empty()
            && !system.starts_with('0')
            && system.bytes().all(|byte| byte.is_ascii_digit());
        if !canonical || database.is_empty() {
            return Err(NotASource);
        }
        let value = system.parse().map_err(|_| NotASource)?;
        Ok(Self {
            system: SystemIdentifier(value),
            database: database.to_owned(),
        })
    }
}

impl fmt::Display for ExpectedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.system, self.database)
    }
}

/// The answer to IDENTIFY_SYSTEM on the streaming connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceIdentity {
    /// The cluster.
    pub system: SystemIdentifier,
    /// The database connected to.
    pub database: String,
    /// The timeline; positions of different timelines are not comparable.
    pub timeline: u32,
    /// How far the WAL is flushed (or replayed, on a standby).
    pub wal_end: WalEnd,
}

impl SourceIdentity {
    /// The pair that an operator writes down.
    pub fn source(&self) -> ExpectedSource {
        ExpectedSource {
            system: self.system,
            database: self.database.clone(),
        }
    }
}

/// Facts about the source server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// `server_version_num`, for example 150018.
    pub version_num: u32,
    /// A standby rather than a primary.
    pub in_recovery: bool,
}

/// One publication the pipeline reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publication {
    /// Its name.
    pub name: Ident,
    /// FOR ALL TABLES.
    pub all_tables: bool,
    /// INSERTs are published.
    pub insert: bool,
    /// UPDATEs are published.
    pub update: bool,
    /// DELETEs are published.
    pub delete: bool,
    /// TRUNCATEs are published.
    pub truncate: bool,
    /// `publish_via_partition_root`.
    pub via_root: bool,
}

/// What kind of type a column has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TypeKind {
    /// A base type.
    Base,
    /// A composite type.
    Composite,
    /// A domain over another type.
    Domain,
    /// An enumeration.
    Enum,
    /// A range.
    Range,
    /// A multirange (PostgreSQL 14 and later).
    Multirange,
    /// A pseudo type; no column has one.
    Pseudo,
}

/// A type as a catalog describes it, domains resolved to their base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PgType {
    /// Object id of the declared type. Below 16384 it is the same on every server.
    pub oid: u32,
    /// Schema and name of the declared type.
    pub name: QualifiedName,
    /// Kind of the declared type.
    pub kind: TypeKind,
    /// Object id of the type under all domains; equal to `oid` when it is not a domain.
    pub base_oid: u32,
    /// Schema and name of the type under all domains.
    pub base_name: QualifiedName,
    /// Kind of the type under all domains.
    pub base_kind: TypeKind,
    /// Element type's object id when the base type is a true array, else 0.
    pub element_oid: u32,
    /// Kind of the element type, domains resolved, when the base type is an array.
    pub element_kind: Option<TypeKind>,
    /// The column's type modifier, or the domain's when the column has none; -1 when there is none.
    pub modifier: i32,
}

impl PgType {
    /// Is the base type one of the server's own, with the same object id everywhere?
    pub const fn is_built_in(&self) -> bool {
        self.base_oid < 16_384
    }
}

/// How a column gets its value on its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Generated {
    /// It does not: plain column, possibly with a default.
    No,
    /// `GENERATED ALWAYS AS (expression)`, stored or virtual.
    Expression,
    /// `GENERATED ALWAYS AS IDENTITY`.
    IdentityAlways,
    /// `GENERATED BY DEFAULT AS IDENTITY`.
    IdentityByDefault,
}

/// One column of a table, from the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableColumn {
    /// Attribute number: a column dropped and added again under the same name has another one.
    pub attnum: i16,
    /// Name.
    pub name: Ident,
    /// Type.
    pub ty: PgType,
    /// NOT NULL is declared.
    pub not_null: bool,
    /// Generated or identity column.
    pub generated: Generated,
}

/// What kind of relation a name stands for (`pg_class.relkind`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TableKind {
    /// An ordinary table.
    Table,
    /// A partitioned table.
    Partitioned,
    /// Anything else: view, materialised view, foreign table, sequence.
    Other,
}

/// One published table, from the source's catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceTable {
    /// Object id.
    pub oid: u32,
    /// Schema and table.
    pub name: QualifiedName,
    /// Kind of relation.
    pub kind: TableKind,
    /// UNLOGGED: changes are never published.
    pub unlogged: bool,
    /// What old rows carry.
    pub replica_identity: ReplicaIdentity,
    /// Columns in attribute order, dropped ones left out.
    pub columns: Vec<TableColumn>,
    /// Primary key columns in index order; empty without one.
    pub primary_key: Vec<Ident>,
    /// Columns that old rows carry under the current replica identity; every column under FULL.
    pub identity_columns: Vec<Ident>,
    /// Names of the columns the publications send; `None` means all that the server version publishes.
    pub column_list: Option<Vec<Ident>>,
    /// Some publication has a row filter on this table.
    pub row_filter: bool,
    /// The current role may SELECT from it.
    pub selectable: bool,
}

/// Everything one connection learnt before streaming.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Who the source is.
    pub identity: SourceIdentity,
    /// Which server it is.
    pub server: Server,
    /// The slot this pipeline uses.
    pub slot: SlotName,
    /// The publications, in the configured order; all of them exist.
    pub publications: Vec<Publication>,
    /// Every table they publish, ordered by schema and name.
    pub tables: Vec<SourceTable>,
}

/// The slot, found or just created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Its name.
    pub name: SlotName,
    /// `confirmed_flush_lsn` of an existing slot, the consistent point of a new one: the stream can start here.
    pub origin: EndLsn,
    /// How it came to be.
    pub provenance: SlotProvenance,
}

/// How the slot came to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlotProvenance {
    /// It existed.
    Reused,
    /// We created it in this session; `empty_tables` held no row in the slot's own snapshot.
    Created {
        /// Published tables without a single row at the consistent point.
        empty_tables: Vec<QualifiedName>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_canonical_number_and_a_database() {
        let source: ExpectedSource = "7431250023019842563/shop".parse().unwrap();
        assert_eq!(source.to_string(), "7431250023019842563/shop");
        assert_eq!(
            "18446744073709551615/a/b"
                .parse::<ExpectedSource>()
                .unwrap()
                .database,
            "a/b"
        );
        for bad in [
            "",
            "7431",
            "7431/",
            "/shop",
            "07/shop",
            "-1/shop",
            "18446744073709551616/shop",
            "7.0/shop",
        ] {
            assert_eq!(bad.parse::<ExpectedSource>(), Err(NotASource), "{bad:?}");
        }
    }
}
