//! What a sink declares: its slot, its resources, its messages, what it ignores and where its checkpoint lives.

use super::period::Period;
use super::resource::{ResourceSpec, TableName};

/// Where the checkpoint rows live and who may read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointSpec {
    /// Schema of the checkpoint tables in the destination.
    pub schema: &'static str,
    /// Role that may SELECT them; nobody by default.
    pub select_grant: Option<&'static str>,
}

/// What a sink is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SinkKind {
    /// Mirrors and histories. The default.
    StateMirror,
    /// Append logs only.
    AppendLog,
}

/// Where an append log begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum InitialState {
    /// With the rows that exist.
    Snapshot,
    /// With the next transaction.
    GoForward,
}

/// Which action the messages of one prefix run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRoute {
    /// The prefix, compared exactly.
    pub prefix: &'static str,
    /// [`ResourceSpec::rust_path`] of the resource.
    pub resource: &'static str,
    /// The action's name, or the word of its kind for the unnamed one.
    pub action: &'static str,
}

/// A whole sink declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SinkSpec {
    /// The Rust type's name, for diagnostics only.
    pub rust_name: &'static str,
    /// Its replication slot; one slot, one sink, one checkpoint.
    pub slot_name: &'static str,
    /// What it is made of.
    pub kind: SinkKind,
    /// Where its log begins; `None` for a mirror, which is told at start.
    pub initial_state: Option<InitialState>,
    /// Its resources, one slice per domain.
    pub domains: &'static [&'static [&'static ResourceSpec]],
    /// Published tables that are deliberately not mirrored.
    pub ignored_sources: &'static [TableName],
    /// Which messages run which action.
    pub message_routes: &'static [MessageRoute],
    /// Prefixes of messages that are deliberately dropped.
    pub ignored_message_prefixes: &'static [&'static str],
    /// How long a message's effect may still be delivered again; no claim may be kept for less.
    pub recovery_horizon: Option<Period>,
    /// Its checkpoint.
    pub checkpoint: CheckpointSpec,
}

impl SinkSpec {
    /// A mirror of nothing, to be completed.
    pub const EMPTY: Self = Self {
        rust_name: "",
        slot_name: "",
        kind: SinkKind::StateMirror,
        initial_state: None,
        domains: &[],
        ignored_sources: &[],
        message_routes: &[],
        ignored_message_prefixes: &[],
        recovery_horizon: None,
        checkpoint: CheckpointSpec {
            schema: "",
            select_grant: None,
        },
    };

    /// Every resource of every domain, auxiliary ones included.
    pub fn resources(&self) -> impl Iterator<Item = &'static ResourceSpec> + '_ {
        self.domains
            .iter()
            .flat_map(|domain| domain.iter().copied())
    }

    /// Every resource that a source table feeds.
    pub fn mapped(&self) -> impl Iterator<Item = &'static ResourceSpec> + '_ {
        self.resources().filter(|resource| resource.is_mapped())
    }
}
