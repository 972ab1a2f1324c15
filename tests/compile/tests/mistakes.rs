//! What the compiler says about declarations that are wrong: the text, the token underlined, and nothing else.
//!
//! `mistakes/<rung>/<rule>.rs` breaks one rule, `mistakes/code` what our traits explain; the module of that name in `tests/pass/<rung>.rs`, or in a file of `tests/pass/<rung>`, is its legal
//! neighbour. The line of a mistake ends with `//~ code token`. `mistakes/<rung>/<rule>.stderr` holds the compiler's
//! words; `REPLICANT_UPDATE=1 cargo test -p replicant-compile-tests --test mistakes` writes them anew.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops at what it does not understand"
)]

mod compiler;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use compiler::Report;
use replicant_sink::contract::rules::Rule;

const RUNGS: [&str; 4] = ["syntax", "rules", "types", "relations"];

/// The rungs, and mistakes in code around declarations, which have no rule but the compiler's.
const FOLDERS: [&str; 5] = ["syntax", "rules", "types", "relations", "code"];

#[test]
fn every_mistake_is_one_message_at_its_token() {
    let mut wrong = Vec::new();
    for case in cases() {
        let text = fs::read_to_string(compiler::package().join(&case)).unwrap();
        let expected = annotated(&text);
        let found: Vec<(usize, String, String)> = of_file(&case)
            .map(|report| (report.line, report.code(), report.underlined.clone()))
            .collect();
        if sorted(expected.clone()) != sorted(found.clone()) {
            wrong.push(format!(
                "{case}\n  written: {expected:?}\n  found:   {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_compiler_says_it_in_these_words() {
    for case in cases() {
        let said: String = of_file(&case).map(|one| one.rendered.clone()).collect();
        same_words(&compiler::package().join(&case), &said);
    }
}

#[track_caller]
fn same_words(case: &Path, said: &str) {
    let path = case.with_extension("stderr");
    if std::env::var_os("REPLICANT_UPDATE").is_some() {
        fs::write(&path, said).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        said == expected,
        "{} expected:\n{expected}\nfound:\n{said}",
        path.display()
    );
}

/// A newcomer's first attempt, with about fifty different mistakes: everything is said at once, each thing once.
#[test]
fn fifty_mistakes_in_one_file_are_fifty_messages_of_one_compile() {
    let reports = compiler::check(&["mistakes-many"]);
    let path = compiler::package().join("mistakes/many/shop.rs");
    let expected = annotated(&fs::read_to_string(&path).unwrap());
    let found = reports
        .iter()
        .map(|report| (report.line, report.code(), report.underlined.clone()));
    assert_eq!(sorted(found.collect()), sorted(expected.clone()));
    assert!(expected.len() >= 50, "{}", expected.len());
    let rules: BTreeSet<&String> = expected.iter().map(|(_, code, _)| code).collect();
    assert!(rules.len() >= 48, "{}", rules.len());
    same_words(
        &path,
        &reports
            .iter()
            .map(|one| one.rendered.clone())
            .collect::<String>(),
    );
}

/// Each line of the guide that begins with `error` or `help`, without the place, which is another one there.
#[test]
fn the_guide_quotes_the_compiler() {
    let guide = compiler::package().join("../../docs/src/guide/declarations.md");
    let guide = fs::read_to_string(guide).unwrap();
    let said: String = cases()
        .iter()
        .map(|case| compiler::package().join(case).with_extension("stderr"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let quotes = |line: &&str| line.starts_with("error") || line.starts_with("       help: ");
    let quoted: Vec<&str> = guide.lines().filter(quotes).collect();
    assert!(quoted.len() > 2, "{quoted:?}");
    for line in quoted {
        let known = said.lines().any(|other| other == line);
        assert!(known, "the compiler does not say: {line}");
    }
}

#[test]
fn nothing_is_reported_outside_the_cases() {
    let cases: BTreeSet<String> = cases().into_iter().collect();
    let outside: Vec<String> = REPORTS
        .iter()
        .filter(|report| !cases.contains(&report.file))
        .map(|report| report.rendered.clone())
        .collect();
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// What is legal at a rung: its file, and those of the folder that it reads.
fn neighbours(rung: &str) -> String {
    let file = compiler::package().join(format!("tests/pass/{rung}.rs"));
    let mut text = fs::read_to_string(&file).unwrap();
    for topic in fs::read_dir(file.with_extension("")).into_iter().flatten() {
        let topic = topic.unwrap().path();
        // A file that nothing reads is not compiled.
        let name = topic.file_stem().unwrap().to_str().unwrap();
        assert!(
            text.contains(&format!("\nmod {name};")),
            "{}",
            topic.display()
        );
        text.push_str(&fs::read_to_string(&topic).unwrap());
    }
    text
}

#[test]
fn every_rule_has_a_case_that_breaks_nothing_else_and_a_legal_neighbour() {
    let package = compiler::package();
    let mut lacking = Vec::new();
    for rule in Rule::ALL {
        let (code, rung) = (rule.code(), rule.rung().as_str());
        let case = package.join(format!("mistakes/{rung}/{code}.rs"));
        let codes: BTreeSet<String> = fs::read_to_string(&case)
            .map(|text| {
                annotated(&text)
                    .into_iter()
                    .map(|(_, code, _)| code)
                    .collect()
            })
            .unwrap_or_default();
        if codes != BTreeSet::from([code.to_owned()]) {
            lacking.push(format!("mistakes/{rung}/{code}.rs breaks {codes:?}"));
        }
        if !neighbours(rung).contains(&format!("mod {code} {{")) {
            lacking.push(format!("tests/pass/{rung} has no module {code}"));
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn every_case_is_compiled_and_belongs_to_a_rule() {
    let rules: BTreeMap<&str, &str> = Rule::ALL
        .iter()
        .map(|rule| (rule.code(), rule.rung().as_str()))
        .collect();
    for rung in RUNGS {
        let root = fs::read_to_string(compiler::package().join(format!("mistakes/{rung}/main.rs")))
            .unwrap();
        for case in names(rung) {
            assert!(
                root.contains(&format!("mod {case};")),
                "{rung}/{case} is not compiled"
            );
            assert_eq!(
                rules.get(case.as_str()),
                Some(&rung),
                "{rung}/{case} breaks no rule"
            );
        }
    }
}

/// All of it in one compile per rung: what one crate says does not depend on how many mistakes there are.
static REPORTS: LazyLock<Vec<Report>> =
    LazyLock::new(|| compiler::check(&FOLDERS.map(|rung| format!("mistakes-{rung}"))));

fn cases() -> Vec<String> {
    FOLDERS
        .iter()
        .flat_map(|rung| {
            names(rung)
                .into_iter()
                .map(move |name| format!("mistakes/{rung}/{name}.rs"))
        })
        .collect()
}

fn names(rung: &str) -> Vec<String> {
    let folder = compiler::package().join("mistakes").join(rung);
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem()?.to_str()?.to_owned();
            (path.extension()? == "rs" && name != "main").then_some(name)
        })
        .collect();
    names.sort();
    names
}

/// `... //~ code token //~ code token`: line, code and token of each mistake.
fn annotated(text: &str) -> Vec<(usize, String, String)> {
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(line, text)| {
            text.split("//~ ").skip(1).filter_map(move |mistake| {
                let (code, token) = mistake.trim().split_once(' ')?;
                Some((line + 1, code.to_owned(), token.to_owned()))
            })
        })
        .collect()
}

fn of_file(case: &str) -> impl Iterator<Item = &Report> {
    REPORTS
        .iter()
        .filter(move |report| Path::new(&report.file) == Path::new(case))
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}
