//! May a checkpoint be continued under another declaration? Only growth may.
//!
//! Rows written under the old promise stay in the destination, so whatever would make them mean something else
//! stops: the remedy is to undo the change, or to reset the checkpoint and fill the tables again.

use super::encode::DecodeError;
use super::manifest::{Column, Manifest, Relation, Stream, Table};
use super::resource::Fidelity;

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
    /// Rows are found by other columns.
    KeyChanged {
        /// The source table.
        table: Table,
    },
    /// A column was mapped and is now neither mapped nor skipped.
    ColumnRemoved {
        /// The source table.
        table: Table,
        /// The source column, or the destination column of a value the destination makes.
        column: String,
    },
    /// A column was skipped and is now neither skipped nor mapped.
    SkipReactivated {
        /// The source table.
        table: Table,
        /// The source column.
        column: String,
    },
    /// A column goes to another destination column, or promises exact values after lossy ones were stored.
    ColumnChanged {
        /// The source table.
        table: Table,
        /// The source column, or the destination column of a value the destination makes.
        column: String,
    },
    /// A column promises another type.
    ColumnType {
        /// The source table.
        table: Table,
        /// The source column, or the destination column of a value the destination makes.
        column: String,
    },
}

impl DriftReason {
    /// Stable machine-readable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::StoredContractInvalid => "stored_contract_invalid",
            Self::Version { .. } => "version",
            Self::Publication => "publication",
            Self::Ignores { .. } => "ignores",
            Self::RelationRemoved { .. } => "relation_removed",
            Self::RelationRetargeted { .. } => "relation_retargeted",
            Self::ShapeChanged { .. } => "shape_changed",
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
            Self::StoredContractInvalid | Self::Version { .. } | Self::Publication => None,
            Self::Ignores { table }
            | Self::RelationRemoved { table }
            | Self::RelationRetargeted { table }
            | Self::ShapeChanged { table }
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
            Self::StoredContractInvalid
            | Self::Version { .. }
            | Self::Publication
            | Self::Ignores { .. }
            | Self::RelationRemoved { .. }
            | Self::RelationRetargeted { .. }
            | Self::ShapeChanged { .. }
            | Self::KeyChanged { .. } => None,
            Self::ColumnRemoved { column, .. }
            | Self::SkipReactivated { column, .. }
            | Self::ColumnChanged { column, .. }
            | Self::ColumnType { column, .. } => Some(column),
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
        relations,
        ignores,
    } = old;
    match (stream, &new.stream) {
        (Stream::Pgoutput { publications: old }, Stream::Pgoutput { publications: new }) => {
            if old != new {
                return Some(DriftReason::Publication);
            }
        }
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
}

fn relation(old: &Relation, new: &Relation) -> Option<DriftReason> {
    let Relation {
        source,
        target,
        shape,
        columns,
        skips,
        key,
        // Policies decide what happens next, not what stored rows mean.
        on_truncate: _,
        on_schema_change: _,
    } = old;
    let table = || source.clone();
    if *target != new.target {
        return Some(DriftReason::RelationRetargeted { table: table() });
    }
    if *shape != new.shape {
        return Some(DriftReason::ShapeChanged { table: table() });
    }
    for was in columns {
        let skipped = was
            .source
            .as_ref()
            .is_some_and(|name| new.skips.contains(name));
        if same_column(was, new).is_none() && !skipped {
            return Some(DriftReason::ColumnRemoved {
                table: table(),
                column: name(was),
            });
        }
    }
    for was in skips {
        let mapped = new
            .columns
            .iter()
            .any(|column| column.source.as_ref() == Some(was));
        if !new.skips.contains(was) && !mapped {
            return Some(DriftReason::SkipReactivated {
                table: table(),
                column: was.clone(),
            });
        }
    }
    let columns = columns
        .iter()
        .find_map(|was| same_column(was, new).and_then(|now| column(was, now, source)));
    if columns.is_some() {
        return columns;
    }
    (*key != new.key).then(|| DriftReason::KeyChanged { table: table() })
}

/// A mapped column is known by its source, a column the destination makes by its own name.
fn same_column<'a>(was: &Column, now: &'a Relation) -> Option<&'a Column> {
    now.columns.iter().find(|column| match &was.source {
        Some(source) => column.source.as_ref() == Some(source),
        None => column.target == was.target,
    })
}

fn column(old: &Column, new: &Column, table: &Table) -> Option<DriftReason> {
    let Column {
        source,
        target,
        storage,
        fidelity,
    } = old;
    // Rows stored exactly stay exact when later ones may lose something; the other way round they do not.
    let exact_now = (*fidelity, new.fidelity) == (Fidelity::Lossy, Fidelity::Lossless);
    if *source != new.source || *target != new.target || exact_now {
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
    column
        .source
        .clone()
        .unwrap_or_else(|| column.target.clone())
}
