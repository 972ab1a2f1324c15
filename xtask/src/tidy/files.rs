//! Is every file one a reader can take in: introduced, short, at home somewhere, finished?

use super::{Source, none, sources, words};

const LINES_MAX: usize = 600;
const DRAWERS: [&str; 7] = [
    "utils", "util", "common", "helpers", "helper", "misc", "types",
];

#[test]
fn every_rust_file_says_first_which_question_it_answers() {
    none(&each(|file| {
        let introduced = file
            .text
            .lines()
            .find(|line| !line.starts_with("#![") && !line.is_empty())
            .is_some_and(|line| line.starts_with("//!"));
        (!introduced).then(|| format!("{}: opens without `//!`", file.at(0)))
    }));
}

#[test]
fn no_file_outgrows_a_reader() {
    none(&each(|file| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| format!("{}: {lines} lines, split it", file.at(0)))
    }));
}

#[test]
fn there_are_no_drawers() {
    none(&each(|file| {
        let stem = file.path.with_extension("");
        let drawer = stem
            .iter()
            .find(|part| DRAWERS.iter().any(|drawer| part == drawer))?;
        Some(format!(
            "{}: `{}` names nothing",
            file.at(0),
            drawer.display()
        ))
    }));
}

#[test]
fn nothing_is_left_unfinished_and_nothing_points_outside() {
    let own = "xtask/src/tidy";
    let found: Vec<String> = sources()
        .iter()
        .filter(|file| !file.path.starts_with(own))
        .flat_map(leftovers)
        .collect();
    none(&found);
}

#[test]
fn there_is_no_unsafe_code() {
    none(&each(unsafe_code));
}

#[test]
fn these_rules_can_refuse() {
    assert_eq!(
        leftovers(&Source::of(
            "a.md",
            "fine\nTODO later\nsee /home/me/x\nfixes #123"
        ))
        .len(),
        3
    );
    assert_eq!(
        leftovers(&Source::of("a.md", "UTF-8, SHA-256, #[test], 57P01, #{n}")).len(),
        0
    );
    assert!(unsafe_code(&Source::of("a.rs", "// unsafe\nunsafe { x() }")).is_some());
    assert!(unsafe_code(&Source::of("a.rs", "#![deny(unsafe_code)] // unsafe")).is_none());
}

fn each(rule: impl Fn(&Source) -> Option<String>) -> Vec<String> {
    sources()
        .iter()
        .filter(|file| file.is_rust() && !file.is_sample())
        .filter_map(rule)
        .collect()
}

fn unsafe_code(file: &Source) -> Option<String> {
    let (line, _) = words(&file.text)
        .into_iter()
        .find(|(_, word)| word == "unsafe")?;
    Some(format!("{}: unsafe code", file.at(line)))
}

/// Marks of unfinished work, ticket numbers and paths of one machine.
fn leftovers(file: &Source) -> Vec<String> {
    const MARKS: [&str; 7] = [
        "TODO", "FIXME", "HACK", "todo!", "/home/", "/root/", "/Users/",
    ];
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        if let Some(mark) = MARKS.iter().find(|mark| line.contains(**mark)) {
            found.push(format!("{}: `{mark}`", file.at(number)));
        } else if mentions_ticket(line) {
            found.push(format!("{}: a ticket number", file.at(number)));
        }
    }
    found
}

/// `#` followed by two or more digits and then nothing that continues a word; colours have six.
fn mentions_ticket(line: &str) -> bool {
    line.split('#').skip(1).any(|rest| {
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        let continues = rest.chars().nth(digits).is_some_and(char::is_alphanumeric);
        (2..=5).contains(&digits) && !continues
    })
}
