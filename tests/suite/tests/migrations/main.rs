//! Do the written migrations make a destination that admission accepts, and does a changed declaration write only its
//! change?
//!
//! Reading order: this file (how migrations are written and read), [`declared`], [`text`], [`server`], [`tenants`],
//! [`claims`].

mod claims;
mod declared;
mod server;
mod tenants;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use declared::{after, before};
use replicant_cli::Exit;
use replicant_sink::pipeline::Pipeline;

pub(crate) fn first() -> Vec<Pipeline> {
    vec![
        Pipeline::of::<before::Sink>(),
        Pipeline::of::<before::EventSink>(),
    ]
}

pub(crate) fn then() -> Vec<Pipeline> {
    vec![
        Pipeline::of::<after::Sink>(),
        Pipeline::of::<after::EventSink>(),
    ]
}

pub(crate) fn migrate(directory: &Path, pipelines: Vec<Pipeline>, options: &[&str]) -> Exit {
    let fixed = ["replicant", "migrations", "--dir"].map(Into::into);
    let options = options.iter().map(Into::into);
    let arguments = fixed.into_iter().chain([directory.into()]).chain(options);
    replicant_cli::run(arguments, pipelines)
}

/// Every file of the directory by name.
pub(crate) fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let entries = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let named = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(named).collect()
}

/// The ways up in order, or the ways down.
pub(crate) fn ways(directory: &Path, ending: &str) -> Vec<String> {
    let files = files(directory).into_iter();
    files
        .filter(|(name, _)| name.ends_with(ending))
        .map(|(_, text)| text)
        .collect()
}
