//! Which PostgreSQL binaries does a test use?
//!
//! In this order: the major version in `REPLICANT_PG_VERSION`, the directory in `REPLICANT_PG_BIN`, Debian's
//! `/usr/lib/postgresql/*/bin` (newest first), Red Hat's `/usr/pgsql-*/bin`, Homebrew's kegs, the `PATH`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::npm;

/// Names the major version that the whole test run uses.
pub const VERSION_VARIABLE: &str = "REPLICANT_PG_VERSION";
/// Names a directory that holds `postgres` and `initdb`.
pub const BIN_VARIABLE: &str = "REPLICANT_PG_BIN";

/// A PostgreSQL installation: binaries of one version.
#[derive(Clone, Debug)]
pub struct Installation {
    bin: PathBuf,
    version: String,
    major: u32,
}

impl Installation {
    /// The installation this run uses: the version asked for by the environment, else the newest on this machine.
    ///
    /// # Errors
    /// When there is none; the message says what to install.
    pub fn selected() -> Result<Self, Error> {
        match env::var(VERSION_VARIABLE) {
            Ok(version) if !version.is_empty() => {
                let major = version.parse().map_err(|_| Error::VersionUnavailable {
                    major: 0,
                    why: format!("{VERSION_VARIABLE} holds `{version}`, not a major version"),
                })?;
                Self::of_version(major)
            }
            _ => Self::on_this_machine(),
        }
    }

    /// The newest server installed on this machine.
    ///
    /// # Errors
    /// When there is none; the message says what to install.
    pub fn on_this_machine() -> Result<Self, Error> {
        candidates()
            .into_iter()
            .find_map(|bin| Self::at(&bin).ok())
            .ok_or(Error::NotFound)
    }

    /// A server of this major version: the machine's, else a build fetched once and cached under
    /// `target/postgres`.
    ///
    /// # Errors
    /// When the machine has none and none can be fetched.
    pub fn of_version(major: u32) -> Result<Self, Error> {
        candidates()
            .into_iter()
            .filter_map(|bin| Self::at(&bin).ok())
            .find(|found| found.major == major)
            .map_or_else(|| Self::at(&npm::fetch(major)?), Ok)
    }

    /// The installation whose programs are in `bin`.
    ///
    /// # Errors
    /// When `postgres` or `initdb` is missing there or does not run.
    pub fn at(bin: &Path) -> Result<Self, Error> {
        if !bin.join("initdb").is_file() {
            return Err(Error::NotFound);
        }
        let program = bin.join("postgres");
        let output = Command::new(&program)
            .arg("--version")
            .output()
            .map_err(Error::io("could not run", &program))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = version_in(&text).ok_or_else(|| Error::Program {
            program: program.display().to_string(),
            output: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
        })?;
        let major = major_of(&version).ok_or(Error::NotFound)?;
        Ok(Self {
            bin: bin.to_path_buf(),
            version,
            major,
        })
    }

    /// The directory of its programs.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// The path of one of its programs, if it has it. Fetched builds carry `postgres`, `initdb` and `pg_ctl` only.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.bin.join(name);
        path.is_file().then_some(path)
    }

    /// Its full version, such as `15.18`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its major version, such as 15.
    pub fn major(&self) -> u32 {
        self.major
    }
}

fn candidates() -> Vec<PathBuf> {
    if let Some(bin) = env::var_os(BIN_VARIABLE).filter(|bin| !bin.is_empty()) {
        return vec![PathBuf::from(bin)];
    }
    let mut found = versioned("/usr/lib/postgresql", "");
    found.extend(versioned("/usr", "pgsql-"));
    found.extend(versioned("/opt/homebrew/opt", "postgresql@"));
    if let Some(path) = env::var_os("PATH") {
        found.extend(env::split_paths(&path));
    }
    found.retain(|bin| bin.join("postgres").is_file());
    found
}

/// `<parent>/<prefix><major>/bin`, newest first.
fn versioned(parent: &str, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let major = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
            Some((major, entry.path().join("bin")))
        })
        .collect();
    found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    found.into_iter().map(|(_, bin)| bin).collect()
}

/// `15.18` in `postgres (PostgreSQL) 15.18 (Debian 15.18-1)`.
fn version_in(text: &str) -> Option<String> {
    let rest = text.split("(PostgreSQL) ").nth(1)?;
    let version = rest.split_whitespace().next()?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| version.to_owned())
}

/// `19` in `19beta1`, `15` in `15.18`.
fn major_of(version: &str) -> Option<u32> {
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_server_prints() {
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(version_in(debian).as_deref(), Some("15.18"));
        assert_eq!(version_in("postgres: not found"), None);
        assert_eq!(major_of("19beta1"), Some(19));
    }

    #[test]
    fn this_machine_has_a_server_that_says_its_version() {
        let found = Installation::on_this_machine().expect("a PostgreSQL server");
        assert!(found.major() >= 9, "{found:?}");
        assert!(found.program("initdb").is_some());
    }
}
