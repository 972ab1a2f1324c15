//! What is in this workspace, and where?

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};

use crate::run::Failure;

/// Crates that are published, in the order in which that has to happen.
pub(crate) const PUBLISHED: [&str; 5] = [
    "replicant-transport",
    "replicant-checkpoint",
    "replicant-resource-macros",
    "replicant-sink",
    "replicant-cli",
];

/// Packages whose tests talk to a server and therefore run once per PostgreSQL version.
pub(crate) const MATRIX: [&str; 2] = ["replicant-test-servers", "replicant-tests"];

/// The workspace's directory.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Its packages; dependencies are not resolved, so this needs no network.
pub(crate) fn metadata() -> Result<Metadata, Failure> {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|error| Failure::Unanswerable(format!("cargo metadata: {error}")))
}
