//! Does every third-party dependency say why it is here?

use std::fs;

use super::none;
use crate::workspace;

#[test]
fn every_dependency_has_a_reason() {
    let text = fs::read_to_string(workspace::root().join("Cargo.toml")).expect("the manifest");
    none(&unexplained(&text));
}

#[test]
fn versions_live_in_the_workspace_manifest_only() {
    let mut violations = Vec::new();
    for file in super::sources() {
        if file
            .path
            .file_name()
            .is_none_or(|name| name != "Cargo.toml")
            || file.path.iter().count() == 1
            // cargo-fuzz keeps a workspace of its own.
            || file.path.starts_with("fuzz")
        {
            continue;
        }
        for (number, line) in dependency_lines(&file.text) {
            if !line.contains("workspace = true") {
                violations.push(format!("{}: `{line}`", file.at(number)));
            }
        }
    }
    none(&violations);
}

#[test]
fn a_dependency_without_a_reason_is_seen() {
    let manifest = "[workspace.dependencies]\nours = { path = \"a\" }\nnone = \"1\"\nsome = \"1\" # why\n[lints]\nx = \"y\"";
    assert_eq!(unexplained(manifest), ["Cargo.toml:3: `none = \"1\"`"]);
}

fn unexplained(manifest: &str) -> Vec<String> {
    dependency_lines(manifest)
        .filter(|(_, line)| !line.contains("path = ") && !line.contains("# "))
        .map(|(number, line)| format!("Cargo.toml:{}: `{line}`", number + 1))
        .collect()
}

/// Lines that name a dependency; a list that spans lines counts by its first one.
fn dependency_lines(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    manifest.lines().enumerate().filter(move |(_, line)| {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        }
        inside && line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains('=')
            || inside && line.ends_with(".workspace = true")
    })
}
