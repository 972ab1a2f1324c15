//! May a checkpoint be continued under another declaration? Only growth may.
//!
//! Rows written under the old promise stay in the destination, so whatever would make them mean something else
//! stops: the remedy is to undo the change, or to reset the checkpoint and fill the tables again. Policies and hooks
//! decide what happens next and may change; both are recorded, so that a change of them is seen.

use super::column::Fidelity;
use super::encode::DecodeError;
use super::manifest::{
    Column, ColumnOrigin, Holding, Manifest, Provenance, Relation, Stream, Table, Tenants,
};
use super::tenancy::TenancyReach;

/// How a current declaration relates to the stored one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Drift {
    /// Nothing that matters changed.
    Equal,
    /// Stored rows keep their meaning; the stored contract is replaced.
    Grown,
    /// Stored rows would change their meaning.
    Incompatible(DriftReason),
}

/// What makes two declarations incompatible, in names from the declarations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DriftReason {
    /// The stored bytes are damaged.
    StoredContractInvalid,
    /// The stored contract has another version.
    Version {
        /// The version found.
        found: u8,
    },
    /// The set of publications differs.
    Publication,
    /// A mirror became a log, or the other way round.
    SinkKind,
    /// A log would have begun elsewhere.
    InitialState,
    /// Messages of a prefix ran an action and do not any more.
    RouteRemoved,
    /// Messages of a prefix run another action or effect.
    RouteChanged,
    /// Messages of a prefix were ignored and are now neither ignored nor routed.
    IgnoredPrefixes,
    /// A table was ignored and is now neither ignored nor mapped.
    Ignores {
        /// The source table.
        table: Table,
    },
    /// A table was mapped and is not any more.
    RelationRemoved {
        /// The source table.
        table: Table,
    },
    /// A source table goes to another destination table.
    RelationRetargeted {
        /// The source table.
        table: Table,
    },
    /// Rows are held in another way.
    ShapeChanged {
        /// The source table.
        table: Table,
    },
    /// Versions belong together by other columns.
    BusinessKeyChanged {
        /// The source table.
        table: Table,
    },
    /// What the sink records about versions or events is recorded elsewhere, or more or less of it is.
    RolesChanged {
        /// The source table.
        table: Table,
    },
    /// Tenants are told or kept apart in another way, or rows without a tenant are not legal any more.
    TenantSource {
        /// The source table.
        table: Table,
    },
    /// Snapshots marked rows and do not any more.
    ProvenanceRemoved {
        /// The source table.
        table: Table,
    },
    /// Rows are found by other columns, or by the same ones among other rows.
    KeyChanged {
        /// The source table.
        table: Table,
    },
    /// A column was mapped and is now neither mapped nor skipped.
    ColumnRemoved {
        /// The source table.
        table: Table,
        /// The source column, or the destination column of a value that no source column feeds.
        column: String,
    },
    /// A column was skipped and is now neither skipped nor mapped.
    SkipReactivated {
        /// The source table.
        table: Table,
        /// The source column.
        column: String,
    },
    /// A column goes to another destination column, is sealed or not sealed any more, or promises exact values after
    /// lossy ones were stored.
    ColumnChanged {
        /// The source table.
        table: Table,
        /// The source column, or the destination column of a value that no source column feeds.
        column: String,
    },
    /// A column promises another type.
    ColumnType {
        /// The source table.
        table: Table,
        /// The source column, or the destination column of a value that no source column feeds.
        column: String,
    },
}

/// Every reason's code, and what changed when it is given.
pub const REASONS: &[(&str, &str)] = &[
    ("stored_contract_invalid", "The stored bytes are damaged."),
    ("version", "The stored contract has another version."),
    ("publication", "The set of publications differs."),
    (
        "sink_kind",
        "A mirror became a log, or the other way round.",
    ),
    ("initial_state", "A log would have begun elsewhere."),
    (
        "ignores",
        "A table was ignored and is now neither ignored nor mapped.",
    ),
    (
        "relation_removed",
        "A table was mapped and is not any more.",
    ),
    (
        "relation_retargeted",
        "A source table goes to another destination table, or to other schemas of tenants.",
    ),
    (
        "shape_changed",
        "Rows are held in another way: current state, history or log.",
    ),
    (
        "business_key_changed",
        "Versions belong together by other columns.",
    ),
    (
        "roles_changed",
        "The window of a history or the structure of a log is recorded in other columns, or more or less of it is.",
    ),
    (
        "tenant_source",
        "Tenants are told or kept apart in another way, or rows without a tenant are not legal any more.",
    ),
    (
        "column_removed",
        "A column was mapped and is now neither mapped nor skipped.",
    ),
    (
        "skip_reactivated",
        "A column was skipped and is now neither skipped nor mapped.",
    ),
    (
        "column_changed",
        "A column goes to another destination column, is sealed or not sealed any more, or promises exact values after lossy ones were stored.",
    ),
    ("column_type", "A column promises another type."),
    (
        "key_changed",
        "Rows are found by other columns, or by the same ones among other rows.",
    ),
    (
        "provenance_removed",
        "Snapshots marked rows and do not any more.",
    ),
    (
        "route_removed",
        "Messages of a prefix ran an action and do not any more.",
    ),
    (
        "route_changed",
        "Messages of a prefix run another action or effect.",
    ),
    (
        "ignored_prefixes",
        "Messages of a prefix were ignored and are now neither ignored nor routed.",
    ),
];

/// What may change by itself: stored rows keep their meaning.
pub const GROWTH: &[&str] = &[
    "another table is mapped, or one that was ignored",
    "another table is ignored",
    "another column is mapped, or one that was skipped",
    "a mapped column that is no key is skipped instead, or another one is",
    "a column accepts a lossy type pair",
    "rows without a tenant become legal",
    "snapshots begin to mark rows",
    "another message prefix is routed, or one that was ignored; another prefix is ignored",
    "`on_truncate`, `on_schema_change` and hooks, which decide what happens next",
];

impl DriftReason {
    /// Stable machine-readable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::StoredContractInvalid => "stored_contract_invalid",
            Self::Version { .. } => "version",
            Self::Publication => "publication",
            Self::SinkKind => "sink_kind",
            Self::InitialState => "initial_state",
            Self::RouteRemoved => "route_removed",
            Self::RouteChanged => "route_changed",
            Self::IgnoredPrefixes => "ignored_prefixes",
            Self::Ignores { .. } => "ignores",
            Self::RelationRemoved { .. } => "relation_removed",
            Self::RelationRetargeted { .. } => "relation_retargeted",
            Self::ShapeChanged { .. } => "shape_changed",
            Self::BusinessKeyChanged { .. } => "business_key_changed",
            Self::RolesChanged { .. } => "roles_changed",
            Self::TenantSource { .. } => "tenant_source",
            Self::ProvenanceRemoved { .. } => "provenance_removed",
            Self::KeyChanged { .. } => "key_changed",
            Self::ColumnRemoved { .. } => "column_removed",
            Self::SkipReactivated { .. } => "skip_reactivated",
            Self::ColumnChanged { .. } => "column_changed",
            Self::ColumnType { .. } => "column_type",
        }
    }

    /// The source table concerned.
    pub const fn table(&self) -> Option<&Table> {
        match self {
            Self::StoredContractInvalid
            | Self::Version { .. }
            | Self::Publication
            | Self::SinkKind
            | Self::InitialState
            | Self::RouteRemoved
            | Self::RouteChanged
            | Self::IgnoredPrefixes => None,
            Self::Ignores { table }
            | Self::RelationRemoved { table }
            | Self::RelationRetargeted { table }
            | Self::ShapeChanged { table }
            | Self::BusinessKeyChanged { table }
            | Self::RolesChanged { table }
            | Self::TenantSource { table }
            | Self::ProvenanceRemoved { table }
            | Self::KeyChanged { table }
            | Self::ColumnRemoved { table, .. }
            | Self::SkipReactivated { table, .. }
            | Self::ColumnChanged { table, .. }
            | Self::ColumnType { table, .. } => Some(table),
        }
    }

    /// The column concerned.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::ColumnRemoved { column, .. }
            | Self::SkipReactivated { column, .. }
            | Self::ColumnChanged { column, .. }
            | Self::ColumnType { column, .. } => Some(column),
            _ => None,
        }
    }
}

/// Compares stored bytes, whose fingerprint the caller has verified, with the current declaration.
pub fn classify_stored(stored: &[u8], current: &Manifest) -> Drift {
    match Manifest::decode(stored) {
        Ok(old) => classify(&old, current),
        Err(DecodeError::Version { found }) => Drift::Incompatible(DriftReason::Version { found }),
        Err(
            DecodeError::Truncated
            | DecodeError::UnknownWord
            | DecodeError::NotText
            | DecodeError::NotCanonical
            | DecodeError::TrailingBytes,
        ) => Drift::Incompatible(DriftReason::StoredContractInvalid),
    }
}

/// Compares two declarations. The first difference that matters is reported, in a fixed order.
pub fn classify(old: &Manifest, new: &Manifest) -> Drift {
    if old == new {
        return Drift::Equal;
    }
    match incompatibility(old, new) {
        Some(reason) => Drift::Incompatible(reason),
        None => Drift::Grown,
    }
}

fn incompatibility(old: &Manifest, new: &Manifest) -> Option<DriftReason> {
    let Manifest {
        stream,
        kind,
        initial_state,
        relations,
        ignores,
        routes: _,
        ignored_prefixes: _,
    } = old;
    match (stream, &new.stream) {
        (Stream::Pgoutput { publications: old }, Stream::Pgoutput { publications: new }) => {
            if old != new {
                return Some(DriftReason::Publication);
            }
        }
    }
    if *kind != new.kind {
        return Some(DriftReason::SinkKind);
    }
    if *initial_state != new.initial_state {
        return Some(DriftReason::InitialState);
    }
    let mapped = |table: &Table| new.relations.iter().find(|now| now.source == *table);
    let dropped = ignores
        .iter()
        .find(|table| !new.ignores.contains(table) && mapped(table).is_none());
    if let Some(table) = dropped {
        return Some(DriftReason::Ignores {
            table: table.clone(),
        });
    }
    let removed = relations.iter().find(|was| mapped(&was.source).is_none());
    if let Some(was) = removed {
        return Some(DriftReason::RelationRemoved {
            table: was.source.clone(),
        });
    }
    relations
        .iter()
        .find_map(|was| mapped(&was.source).and_then(|now| relation(was, now)))
        .or_else(|| messages(old, new))
}

/// Routes may be added, and take over prefixes that were ignored; everything else changes what a message meant.
fn messages(old: &Manifest, new: &Manifest) -> Option<DriftReason> {
    let routed = |prefix: &str| new.routes.iter().find(|now| now.prefix == prefix);
    for was in &old.routes {
        match routed(&was.prefix) {
            None => return Some(DriftReason::RouteRemoved),
            Some(now) if now != was => return Some(DriftReason::RouteChanged),
            Some(_) => {}
        }
    }
    let ignored = |prefix: &String| new.ignored_prefixes.contains(prefix);
    let dropped = |prefix: &&String| !ignored(prefix) && routed(prefix).is_none();
    let mut prefixes = old.ignored_prefixes.iter();
    prefixes.find(dropped).map(|_| DriftReason::IgnoredPrefixes)
}

fn relation(old: &Relation, new: &Relation) -> Option<DriftReason> {
    let Relation {
        source,
        target,
        holding,
        tenants: _,
        columns: _,
        skips: _,
        key,
        key_reach,
        provenance,
        // Policies and hooks decide what happens next, not what stored rows mean.
        hooks: _,
        on_truncate: _,
        on_schema_change: _,
    } = old;
    let table = || source.clone();
    if *target != new.target {
        return Some(DriftReason::RelationRetargeted { table: table() });
    }
    match (holding, &new.holding) {
        (Holding::Mirror, Holding::Mirror) => {}
        (
            Holding::History {
                business_key,
                roles,
            },
            Holding::History {
                business_key: key_now,
                roles: roles_now,
            },
        ) => {
            if business_key != key_now {
                return Some(DriftReason::BusinessKeyChanged { table: table() });
            }
            if roles != roles_now {
                return Some(DriftReason::RolesChanged { table: table() });
            }
        }
        (Holding::AppendLog { roles }, Holding::AppendLog { roles: roles_now }) => {
            if roles != roles_now {
                return Some(DriftReason::RolesChanged { table: table() });
            }
        }
        (Holding::Mirror | Holding::History { .. } | Holding::AppendLog { .. }, _) => {
            return Some(DriftReason::ShapeChanged { table: table() });
        }
    }
    if !tenants_agree(&old.tenants, &new.tenants) {
        return Some(DriftReason::TenantSource { table: table() });
    }
    if let Some(reason) = columns(old, new) {
        return Some(reason);
    }
    if *key != new.key || *key_reach != new.key_reach {
        return Some(DriftReason::KeyChanged { table: table() });
    }
    let unmarked = (*provenance, new.provenance) == (Provenance::Marked, Provenance::Unmarked);
    unmarked.then(|| DriftReason::ProvenanceRemoved { table: table() })
}

/// Rows with a tenant keep it when rows without one become legal; the other way round some would have none.
fn tenants_agree(old: &Tenants, new: &Tenants) -> bool {
    match (old, new) {
        (Tenants::None, Tenants::None) => true,
        (
            Tenants::Some { apart, reach, told },
            Tenants::Some {
                apart: apart_now,
                reach: reach_now,
                told: told_now,
            },
        ) => {
            let narrower = (*reach, *reach_now) == (TenancyReach::Global, TenancyReach::Scoped);
            apart == apart_now && told == told_now && !narrower
        }
        (Tenants::None | Tenants::Some { .. }, _) => false,
    }
}

fn columns(old: &Relation, new: &Relation) -> Option<DriftReason> {
    let table = || old.source.clone();
    for was in &old.columns {
        let skipped = match &was.origin {
            ColumnOrigin::Source(name) => new.skips.contains(name),
            ColumnOrigin::Before(_) | ColumnOrigin::Destination | ColumnOrigin::Stamp => false,
        };
        if same_column(was, new).is_none() && !skipped {
            return Some(DriftReason::ColumnRemoved {
                table: table(),
                column: name(was),
            });
        }
    }
    for was in &old.skips {
        let reads = |column: &Column| match &column.origin {
            ColumnOrigin::Source(name) | ColumnOrigin::Before(name) => name == was,
            ColumnOrigin::Destination | ColumnOrigin::Stamp => false,
        };
        if !new.skips.contains(was) && !new.columns.iter().any(reads) {
            return Some(DriftReason::SkipReactivated {
                table: table(),
                column: was.clone(),
            });
        }
    }
    old.columns
        .iter()
        .find_map(|was| same_column(was, new).and_then(|now| column(was, now, &old.source)))
}

/// A mapped column is known by its source, any other by its own name.
fn same_column<'a>(was: &Column, now: &'a Relation) -> Option<&'a Column> {
    now.columns.iter().find(|column| match &was.origin {
        ColumnOrigin::Source(_) | ColumnOrigin::Before(_) => column.origin == was.origin,
        ColumnOrigin::Destination | ColumnOrigin::Stamp => column.target == was.target,
    })
}

fn column(old: &Column, new: &Column, table: &Table) -> Option<DriftReason> {
    let Column {
        origin,
        target,
        storage,
        fidelity,
        protection,
    } = old;
    // Rows stored exactly stay exact when later ones may lose something; the other way round they do not.
    let exact_now = (*fidelity, new.fidelity) == (Fidelity::Lossy, Fidelity::Lossless);
    if *origin != new.origin || *target != new.target || *protection != new.protection || exact_now
    {
        return Some(DriftReason::ColumnChanged {
            table: table.clone(),
            column: name(old),
        });
    }
    (*storage != new.storage).then(|| DriftReason::ColumnType {
        table: table.clone(),
        column: name(old),
    })
}

fn name(column: &Column) -> String {
    match &column.origin {
        ColumnOrigin::Source(name) | ColumnOrigin::Before(name) => name.clone(),
        ColumnOrigin::Destination | ColumnOrigin::Stamp => column.target.clone(),
    }
}
