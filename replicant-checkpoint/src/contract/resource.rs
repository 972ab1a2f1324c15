//! What a resource declares as a whole: its source and destination tables, how rows are held, and its policies.
//!
//! The parts have files of their own: [`column`](mod@super::column), [`identity`](mod@super::identity),
//! [`action`](mod@super::action), [`tenancy`](mod@super::tenancy), [`history`](mod@super::history),
//! [`append`](mod@super::append), [`provenance`](mod@super::provenance). Their names are found here too.

pub use super::action::{
    Accept, ActionKind, ActionRef, ActionSpec, ActionTenancy, HookSpec, Marking, MessageSpec,
};
pub use super::append::AppendSpec;
pub use super::column::{
    ColumnSpec, Fidelity, Nullability, Origin, Protection, Storage, Visibility, Wrapping,
};
pub use super::history::HistorySpec;
pub use super::identity::{IdentityReach, IdentitySpec};
pub use super::period::Period;
pub use super::provenance::ProvenanceSpec;
pub use super::role::Role;
pub use super::tenancy::{Tenancy, TenancyReach, TenancyStrategy, TenantSource};

use super::constant::equal;
use super::provenance;

/// Schema and table, as declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct TableName {
    /// The schema.
    pub schema: &'static str,
    /// The table.
    pub table: &'static str,
}

/// How the destination holds the source's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Current state: one destination row per source row.
    Mirror,
    /// Every version of every row, each with the window it was valid in.
    History(HistorySpec),
    /// One destination row per source change.
    AppendLog(AppendSpec),
    /// A table of the destination that no source feeds: hooks and messages write it.
    Auxiliary,
}

/// What a TRUNCATE on the source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OnTruncate {
    /// Stop; nobody said that losing every row is meant. The default.
    Halt,
    /// Delete every destination row.
    Mirror,
    /// Close every open version of a history.
    Close,
    /// Record the truncate as an event of a log.
    Append,
}

/// What a destructive schema change on the source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OnSchemaChange {
    /// Stop before the first row of the new shape. The default.
    HaltDestructive,
    /// Go on without a dropped column. Type and replica identity changes stop even so.
    Ignore,
}

/// A whole declaration, legal or not; [`rules`](super::rules) say which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceSpec {
    /// The Rust type's name, for diagnostics only. It is not part of the contract.
    pub rust_name: &'static str,
    /// Module path and name of the Rust type, by which hooks and routes of the same sink refer to it. It is not part
    /// of the contract either.
    pub rust_path: &'static str,
    /// The table on the source. Empty names for an auxiliary resource, which has none.
    pub source: TableName,
    /// The table in the destination.
    pub target: TableName,
    /// How rows are held.
    pub shape: Shape,
    /// How rows belong to tenants.
    pub tenancy: Tenancy,
    /// Columns in field order.
    pub columns: &'static [ColumnSpec],
    /// Source columns that are not mirrored.
    pub skips: &'static [&'static str],
    /// Source columns that must not be stored in the clear.
    pub sensitive: &'static [&'static str],
    /// Fields of the destination's primary key, in field order. Empty for a table without one.
    pub primary_key: &'static [&'static str],
    /// Declared identities.
    pub identities: &'static [IdentitySpec],
    /// The identity rows are found by; `None` means the primary key.
    pub upsert_identity: Option<&'static str>,
    /// Whether and how snapshots mark rows.
    pub provenance: Option<ProvenanceSpec>,
    /// Truncate policy.
    pub on_truncate: OnTruncate,
    /// Schema change policy.
    pub on_schema_change: OnSchemaChange,
    /// Declared actions.
    pub actions: &'static [ActionSpec],
    /// The macro already reported mistakes in it; relations with other resources skip it.
    pub broken: bool,
}

impl ResourceSpec {
    /// A mirror that declares nothing, to be completed.
    pub const EMPTY: Self = Self {
        rust_name: "",
        rust_path: "",
        source: TableName {
            schema: "",
            table: "",
        },
        target: TableName {
            schema: "",
            table: "",
        },
        shape: Shape::Mirror,
        tenancy: Tenancy::Untenanted,
        columns: &[],
        skips: &[],
        sensitive: &[],
        primary_key: &[],
        identities: &[],
        upsert_identity: None,
        provenance: None,
        on_truncate: OnTruncate::Halt,
        on_schema_change: OnSchemaChange::HaltDestructive,
        actions: &[],
        broken: false,
    };

    /// What stands in for a declaration that could not be read; relations skip it.
    pub const BROKEN: Self = Self {
        broken: true,
        ..Self::EMPTY
    };

    /// The name of the identity rows are found by, or events are told apart by. `None` is the primary key.
    pub const fn finding_identity(&self) -> Option<&'static str> {
        match self.shape {
            Shape::AppendLog(append) => Some(append.identity),
            Shape::Mirror | Shape::History(_) | Shape::Auxiliary => self.upsert_identity,
        }
    }

    /// The fields of [`finding_identity`](Self::finding_identity). Empty for a table without any.
    ///
    /// Under attribute tenancy the tenant's column belongs to it too, unless the identity reaches all tenants.
    pub fn key_fields(&self) -> &'static [&'static str] {
        match self.finding_identity() {
            None => self.primary_key,
            Some(name) => self.identity(name).map_or(&[], |identity| identity.keys),
        }
    }

    /// The column with this field name.
    pub fn column(&self, field: &str) -> Option<&'static ColumnSpec> {
        self.columns.iter().find(|column| column.field == field)
    }

    /// The identity of this name.
    pub fn identity(&self, name: &str) -> Option<&'static IdentitySpec> {
        self.identities
            .iter()
            .find(|identity| identity.name == name)
    }

    /// The action that others call so: by its name, or by the word of its kind for the unnamed one.
    pub fn action(&self, name: &str) -> Option<&'static ActionSpec> {
        self.actions.iter().find(|action| action.called() == name)
    }

    /// Is it fed by a source table?
    pub const fn is_mapped(&self) -> bool {
        !matches!(self.shape, Shape::Auxiliary)
    }

    /// What the schemas of tenants are called, where each tenant has tables of its own: an auxiliary resource gets its
    /// tenant from the hook that writes it, every other one from its rows.
    pub const fn schema_of_tenants(&self) -> Option<&'static str> {
        match self.tenancy {
            Tenancy::Tenanted {
                strategy: TenancyStrategy::Context { schema },
                source,
                ..
            } if source.is_some() || !self.is_mapped() => Some(schema),
            Tenancy::Tenanted { .. } | Tenancy::Untenanted => None,
        }
    }

    /// The field of each role that the sink fills.
    pub fn roles(&self) -> Vec<(Role, &'static str)> {
        let mut roles: Vec<(Role, Option<&'static str>)> = match self.shape {
            Shape::Mirror | Shape::Auxiliary => Vec::new(),
            Shape::History(history) => history.roles().into(),
            Shape::AppendLog(append) => append.roles().into(),
        };
        if self.provenance.is_some() {
            roles.extend(provenance::ROLES);
        }
        roles
            .into_iter()
            .filter_map(|(role, field)| field.map(|field| (role, field)))
            .collect()
    }

    /// The role that a field holds.
    pub const fn role_of(&self, field: &str) -> Option<Role> {
        let role = match &self.shape {
            Shape::Mirror | Shape::Auxiliary => None,
            Shape::History(history) => holder(&history.roles(), field),
            Shape::AppendLog(append) => holder(&append.roles(), field),
        };
        match (role, &self.provenance) {
            (None, Some(_)) => holder(&provenance::ROLES, field),
            (role, _) => role,
        }
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler too, where iterators do not exist; the index is below the length"
)]
const fn holder(roles: &[(Role, Option<&'static str>)], field: &str) -> Option<Role> {
    let mut at = 0;
    while at < roles.len() {
        if let (role, Some(named)) = roles[at]
            && equal(named, field)
        {
            return Some(role);
        }
        at += 1;
    }
    None
}
