//! Does each layer speak its own language only?

use super::{Source, none, sources, words};

/// What the transport must never hear of: it moves transactions, whoever they belong to.
const FOREIGN: [&str; 4] = ["tenant", "resource", "sensitive", "history"];

/// PostgreSQL's own terms that contain one of them.
const POSTGRESQL: [&str; 3] = [
    "timeline_history",
    "insufficient_resources",
    "case_insensitive",
];

#[test]
fn the_transport_knows_no_tenant() {
    let found: Vec<String> = sources()
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with("replicant-transport/src"))
        .flat_map(foreign_words)
        .collect();
    none(&found);
}

#[test]
fn a_foreign_word_is_seen() {
    let file = Source::of(
        "x.rs",
        "fn tenant_of() {}\nstruct TimelineHistory; // a tenant\nlet timeline_history = 1;",
    );
    assert_eq!(
        foreign_words(&file),
        ["x.rs:1: `tenant_of` belongs to another layer"]
    );
}

fn foreign_words(file: &Source) -> Vec<String> {
    words(&file.text)
        .into_iter()
        .filter(|(_, word)| {
            let word = word.to_lowercase();
            FOREIGN.iter().any(|foreign| word.contains(foreign))
                && !POSTGRESQL
                    .iter()
                    .any(|term| word.contains(term) || word.contains(&term.replace('_', "")))
        })
        .map(|(line, word)| format!("{}: `{word}` belongs to another layer", file.at(line)))
        .collect()
}
