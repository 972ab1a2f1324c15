//! What do the two files of a migration say?

use std::collections::BTreeSet;

use replicant_sink::ddl::{Change, Drops, Place, Risk};

/// The two files of one place.
pub(super) struct Migration {
    pub(super) place: Place,
    pub(super) up: String,
    pub(super) down: String,
}

/// The migrations that make the changes, one for each place that changes.
pub(super) fn migrations(changes: &[Change], drops: Drops) -> Vec<Migration> {
    let places: BTreeSet<&Place> = changes.iter().map(|change| &change.place).collect();
    let of = |place: &Place| -> Migration {
        let here = changes.iter().filter(|change| change.place == *place);
        let here: Vec<&Change> = here.collect();
        Migration {
            place: place.clone(),
            up: up(place, &here, drops),
            down: down(place, &here, drops),
        }
    };
    places.into_iter().map(of).collect()
}

/// The file that makes the changes.
fn up(place: &Place, changes: &[&Change], drops: Drops) -> String {
    let mut text = head(place, "what the declarations ask of the destination");
    for change in changes {
        let part = parts(change, drops).0;
        text.push_str(&one(change, &part, "Not run, because it loses data:"));
    }
    text
}

/// The file that undoes them, the last one first.
fn down(place: &Place, changes: &[&Change], drops: Drops) -> String {
    let mut text = head(place, "undoes the migration of the same name");
    for change in changes.iter().rev() {
        let part = parts(change, drops).1;
        text.push_str(&one(change, &part, "Only where it was dropped by hand:"));
    }
    text
}

/// The statements that are run, and those that are not.
struct Part<'a> {
    run: &'a [String],
    commented: &'a [String],
}

fn parts(change: &Change, drops: Drops) -> (Part<'_>, Part<'_>) {
    let run = |run| Part {
        run,
        commented: &[],
    };
    match (&change.risk, drops) {
        (Risk::Drops { up, down }, Drops::Commented) => (
            Part {
                run: up,
                commented: &change.up,
            },
            Part {
                run: down,
                commented: &change.down,
            },
        ),
        (Risk::Drops { .. } | Risk::Converts | Risk::None, _) => {
            (run(&change.up), run(&change.down))
        }
    }
}

fn head(place: &Place, what: &str) -> String {
    let mut text = format!("-- Written by `replicant migrations`: {what}.\n");
    if let Some(guard) = place.guard() {
        text.push_str("-- Run it for each tenant, with search_path set to the tenant's schema.\n");
        text.push_str(&format!("\n{guard};\n"));
    }
    text
}

fn one(change: &Change, part: &Part<'_>, why_not: &str) -> String {
    let mut text = format!("\n-- {}: {}\n", change.subject, change.what);
    for statement in part.run {
        text.push_str(&format!("{statement};\n"));
    }
    if !part.commented.is_empty() {
        text.push_str(&format!("-- {why_not}\n"));
    }
    for line in part.commented.iter().flat_map(|statement| {
        let ended = format!("{statement};");
        ended.lines().map(str::to_owned).collect::<Vec<_>>()
    }) {
        text.push_str(&format!("--   {line}\n"));
    }
    text
}
