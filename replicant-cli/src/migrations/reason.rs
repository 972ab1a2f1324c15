//! Why were no migrations written? The closed list of this command's reasons.

use std::fmt;

use replicant_transport::closed_reasons;

use crate::exit::Exit;

closed_reasons! {
    /// Why `migrations` refused.
    pub enum Reason {
        /// The directory cannot be made, read or written.
        Directory = "migrations_directory", Terminal,
            "Name a directory with --dir that this user may write; nothing was left half-written.";
        /// The name of a migration is not usable.
        Name = "migrations_name", Terminal,
            "Use lower-case letters, digits and underscores, as in `--name orders_by_email`.";
        /// The snapshot is not what a release writes.
        SnapshotUnreadable = "migrations_snapshot_unreadable", Terminal,
            "Restore replicant.snapshot.json from version control: it goes with the migrations beside it.";
        /// The snapshot was changed after it was written.
        SnapshotEdited = "migrations_snapshot_edited", Terminal,
            "Restore replicant.snapshot.json from version control; change the declarations instead. After a merge, take one side's migrations and snapshot whole and run this again.";
        /// A newer release wrote the snapshot.
        SnapshotNewer = "migrations_snapshot_newer", Terminal,
            "Use the release that wrote the snapshot, or a newer one.";
        /// Two pipelines of one program have one name.
        PipelineRepeated = "migrations_pipeline_repeated", Terminal,
            "Give each pipeline a name of its own with `named`.";
        /// A declared change would lose values.
        Destructive = "migrations_destructive", OperatorDecision,
            "Run it again with --allow-destructive if that is meant; otherwise undo the change of the declaration.";
    }
}

impl Reason {
    /// Was the question answered with no, or could it not be asked?
    pub(super) const fn exit(self) -> Exit {
        match self {
            Self::Destructive => Exit::Failed,
            _ => Exit::NotAsked,
        }
    }
}

/// A reason and what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mistake {
    pub(super) reason: Reason,
    fact: String,
}

impl Mistake {
    pub(super) fn new(reason: Reason, fact: impl Into<String>) -> Self {
        Self {
            reason,
            fact: fact.into(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, fact } = self;
        write!(f, "{}: {fact}; {}", reason.code(), reason.help())
    }
}
