//! What do the two files of a migration say?

use replicant_sink::ddl::{Change, Risk};

/// What becomes of a statement that drops something?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Drops {
    /// It is written.
    Written,
    /// It is written as a comment, and the destination keeps what it would drop.
    Commented,
}

/// The file that makes the changes.
pub(super) fn up(changes: &[Change], drops: Drops) -> String {
    let mut text = head("what the declarations ask of the destination");
    for change in changes {
        let part = parts(change, drops).0;
        text.push_str(&one(change, &part, "Not run, because it loses data:"));
    }
    text
}

/// The file that undoes them, the last one first.
pub(super) fn down(changes: &[Change], drops: Drops) -> String {
    let mut text = head("undoes the migration of the same name");
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

fn head(what: &str) -> String {
    format!("-- Written by `replicant migrations`: {what}.\n")
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
