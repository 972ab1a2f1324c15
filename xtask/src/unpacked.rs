//! What did an earlier packaging leave behind that would be taken for this one's?
//!
//! `cargo package` lets packages of one workspace depend on each other by a registry in the target directory, and unpacks
//! from it into its own home, under a name made of that directory's path. What is there already is not unpacked again,
//! so that a package of the same version would be checked against its dependencies of yesterday.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::run::Failure;
use crate::workspace;

/// Removes what earlier packagings of this workspace unpacked.
pub(crate) fn forget() -> Result<(), Failure> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    match home {
        Some(home) => forget_in(&home.join("registry").join("src")),
        None => Ok(()),
    }
}

fn forget_in(unpacked: &Path) -> Result<(), Failure> {
    for registry in folders(unpacked)? {
        // One with an address is somebody else's.
        if !name(&registry).starts_with('-') {
            continue;
        }
        for package in folders(&registry)? {
            let is_ours = workspace::PUBLISHED.iter().any(|ours| {
                let rest = name(&package).strip_prefix(ours);
                let version = rest.and_then(|rest| rest.strip_prefix('-'));
                version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
            });
            if is_ours {
                fs::remove_dir_all(&package)?;
            }
        }
    }
    Ok(())
}

/// The folders in a folder; none if there is no such folder.
fn folders(within: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !within.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(within)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_workspace_packaged_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let kept = [
            "crates.example-1/replicant-sink-0.1.0",
            "-1/serde-1.0.0",
            "-1/replicant-sinkhole-0.1.0",
        ];
        let gone = ["-1/replicant-sink-0.1.0", "-2/replicant-transport-0.2.0"];
        for folder in kept.iter().chain(&gone) {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        forget_in(home.path()).unwrap();
        assert!(kept.iter().all(|folder| home.path().join(folder).exists()));
        assert!(!gone.iter().any(|folder| home.path().join(folder).exists()));
        forget_in(&home.path().join("nowhere")).unwrap();
    }
}
