//! Do dependencies point one way? The allowed edges are a list; a new edge is a decision, recorded as an ADR.

use super::{Source, none, sources, words};
use crate::workspace;

/// Which of our crates may depend on which. Test packages and xtask may use everything published.
const ALLOWED: [(&str, &[&str]); 5] = [
    ("replicant-transport", &[]),
    ("replicant-checkpoint", &["replicant-transport"]),
    ("replicant-resource-macros", &["replicant-checkpoint"]),
    (
        "replicant-sink",
        &[
            "replicant-transport",
            "replicant-checkpoint",
            "replicant-resource-macros",
        ],
    ),
    (
        "replicant-cli",
        &[
            "replicant-transport",
            "replicant-checkpoint",
            "replicant-sink",
        ],
    ),
];

/// Knows none of our crates, so every crate's own tests may use it.
const SERVERS: &str = "replicant-test-servers";

#[test]
fn dependencies_between_our_crates_point_one_way() {
    let metadata = workspace::metadata().expect("metadata");
    let ours: Vec<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut violations = Vec::new();
    for package in &metadata.packages {
        let allowed = ALLOWED
            .iter()
            .find(|(name, _)| *name == package.name.as_str());
        let edges: Vec<&str> = package
            .dependencies
            .iter()
            .map(|dependency| dependency.name.as_str())
            .filter(|name| ours.contains(name) && *name != package.name.as_str())
            .collect();
        match allowed {
            Some((_, allowed)) => violations.extend(
                forbidden(allowed, &edges)
                    .iter()
                    .map(|edge| format!("{} must not depend on {edge}", package.name)),
            ),
            None if package.name == SERVERS => violations.extend(
                edges
                    .iter()
                    .map(|edge| format!("{SERVERS} must not depend on {edge}")),
            ),
            None if package.publish.as_ref().is_none_or(|list| !list.is_empty()) => {
                violations.push(format!("{} says nothing about publishing", package.name));
            }
            None => {}
        }
    }
    none(&violations);
}

#[test]
fn the_macros_see_the_contract_and_no_client() {
    let metadata = workspace::metadata().expect("metadata");
    for (from, to) in [
        ("replicant-resource-macros", "replicant-checkpoint"),
        ("replicant-checkpoint", "replicant-transport"),
    ] {
        let dependency = metadata
            .packages
            .iter()
            .find(|package| package.name == from)
            .and_then(|package| package.dependencies.iter().find(|dep| dep.name == to))
            .expect("the edge exists");
        assert!(!dependency.uses_default_features, "{from} -> {to}");
        assert!(dependency.features.is_empty(), "{from} -> {to}");
    }
}

#[test]
fn the_contract_imports_positions_and_identifiers_only() {
    let files: Vec<Source> = sources()
        .into_iter()
        .filter(|source| source.path.starts_with("replicant-checkpoint/src/contract"))
        // Tests may import what generates their cases; they are compiled into nothing that others see.
        .filter(|source| {
            !source
                .path
                .starts_with("replicant-checkpoint/src/contract/tests")
        })
        .collect();
    assert!(!files.is_empty());
    none(&files.iter().flat_map(foreign_imports).collect::<Vec<_>>());
}

#[test]
fn a_forbidden_edge_and_a_foreign_import_are_seen() {
    assert_eq!(
        forbidden(&["replicant-checkpoint"], &["replicant-sink", SERVERS]),
        ["replicant-sink"]
    );
    let file = Source::of(
        "x.rs",
        "use tokio::spawn;\nuse super::resource;\nuse replicant_transport::cell::Cell;\nuse crate::store::X;",
    );
    assert_eq!(foreign_imports(&file).len(), 3);
}

fn forbidden<'a>(allowed: &[&str], edges: &[&'a str]) -> Vec<&'a str> {
    edges
        .iter()
        .copied()
        .filter(|edge| !allowed.contains(edge) && *edge != SERVERS)
        .collect()
}

fn foreign_imports(file: &Source) -> Vec<String> {
    let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let found = words(code);
    let mut violations = Vec::new();
    for (index, (line, word)) in found.iter().enumerate() {
        let after = |steps: usize| {
            found
                .get(index + steps)
                .map_or("", |(_, word)| word.as_str())
        };
        let foreign = match word.as_str() {
            "use" => {
                !matches!(
                    after(1),
                    "super" | "self" | "crate" | "std" | "core" | "alloc" | "replicant_transport"
                ) && !after(1).starts_with(char::is_uppercase)
                    // A file may name the modules that it declares itself.
                    && !code.contains(&format!("mod {};", after(1)))
            }
            "replicant_transport" => !matches!(after(1), "position" | "ident"),
            "crate"
                if found
                    .get(index.wrapping_sub(1))
                    .is_none_or(|(_, word)| word != "pub") =>
            {
                after(1) != "contract"
            }
            _ => false,
        };
        if foreign {
            violations.push(format!(
                "{}: `{word} {}` is not the contract's",
                file.at(*line),
                after(1)
            ));
        }
    }
    violations
}
