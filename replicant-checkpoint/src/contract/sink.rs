//! What a sink declares: its slot, its resources, what it ignores and where its checkpoint lives.

use super::resource::{ResourceSpec, TableName};

/// Where the checkpoint rows live and who may read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointSpec {
    /// Schema of the checkpoint tables in the destination.
    pub schema: &'static str,
    /// Role that may SELECT them; nobody by default.
    pub select_grant: Option<&'static str>,
}

/// A whole sink declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SinkSpec {
    /// The Rust type's name, for diagnostics only.
    pub rust_name: &'static str,
    /// Its replication slot; one slot, one sink, one checkpoint.
    pub slot_name: &'static str,
    /// Its resources, one slice per domain.
    pub domains: &'static [&'static [&'static ResourceSpec]],
    /// Published tables that are deliberately not mirrored.
    pub ignored_sources: &'static [TableName],
    /// Its checkpoint.
    pub checkpoint: CheckpointSpec,
}

impl SinkSpec {
    /// Every resource of every domain.
    pub fn resources(&self) -> impl Iterator<Item = &'static ResourceSpec> + '_ {
        self.domains
            .iter()
            .flat_map(|domain| domain.iter().copied())
    }
}
