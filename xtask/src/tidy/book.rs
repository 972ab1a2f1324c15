//! Does the documentation hold together: every link leads somewhere, every page is in the table of contents, every
//! example is compiled, and every test that is named exists?

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::{Source, none, sources};

/// Where pages are compiled as doctests.
const EXAMPLES: &str = "tests/compile/src/lib.rs";

/// Tables whose last cell says what proves the row: behaviours and invariants.
const BEHAVIOURS: [&str; 2] = [
    "docs/src/behaviours.md",
    "docs/src/concepts/architecture.md",
];

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let sources = sources();
    let pages: Vec<&Source> = sources.iter().filter(|file| is_page(file)).collect();
    assert!(pages.len() > 20, "{} pages", pages.len());
    let found = pages.iter().flat_map(|page| broken_links(page, &sources));
    none(&found.collect::<Vec<_>>());
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let sources = sources();
    let summary = page(&sources, "docs/src/SUMMARY.md");
    let listed: HashSet<PathBuf> = links(&summary.text)
        .map(|(_, target)| Path::new("docs/src").join(target))
        .collect();
    let found = sources
        .iter()
        .filter(|file| file.path.starts_with("docs/src") && is_page(file))
        .filter(|file| !file.path.ends_with("SUMMARY.md") && !listed.contains(&file.path))
        .map(|file| format!("{}: not in SUMMARY.md", file.path.display()));
    none(&found.collect::<Vec<_>>());
}

#[test]
fn every_example_in_rust_is_compiled() {
    let sources = sources();
    let examples = page(&sources, EXAMPLES);
    let found = sources
        .iter()
        .filter(|file| is_page(file) && !file.path.starts_with("docs/src/reference"))
        .flat_map(|file| uncompiled(file, &examples.text));
    none(&found.collect::<Vec<_>>());
}

#[test]
fn every_behaviour_names_a_test_that_exists_or_a_reason() {
    let sources = sources();
    let tables: Vec<&Source> = sources
        .iter()
        .filter(|file| BEHAVIOURS.iter().any(|place| file.path.starts_with(place)))
        .collect();
    assert!(tables.iter().any(|table| table.text.contains(".rs::")));
    let found = tables.iter().flat_map(|table| unproven(table, &sources));
    none(&found.collect::<Vec<_>>());
}

#[test]
fn broken_documentation_is_seen() {
    let pages = [
        Source::of(
            "docs/src/a.md",
            "# A title: one\n[x](b.md#there-is) [x](b.md#there-is-not) [x](c.md) `[x](d.md)` [x](https://e) [x](#a-title-one)",
        ),
        Source::of("docs/src/b.md", "## There `is`\n```text\n[x](no.md)\n```"),
    ];
    assert_eq!(
        broken_links(&pages[0], &pages),
        [
            "docs/src/a.md:2: no heading for `b.md#there-is-not`",
            "docs/src/a.md:2: no file for `c.md`"
        ]
    );
    let page = Source::of("docs/src/c.md", "```rust,ignore\n```\n```rust\n```");
    assert_eq!(
        uncompiled(&page, "include_str!(\"../docs/src/c.md\")").len(),
        1
    );
    assert_eq!(uncompiled(&page, "").len(), 2);
    let sources = [Source::of(
        "tests/a.rs",
        "#[test]\nfn one() {}\nfn two() {}",
    )];
    let table = Source::of(
        "docs/src/behaviours.md",
        "| behaviour | test |\n| --- | --- |\n| a | `tests/a.rs::one` |\n| b | `a.rs::two` `b.rs::x` |\n| c | |\n| d | no hooks |",
    );
    assert_eq!(unproven(&table, &sources).len(), 3);
}

fn is_page(file: &Source) -> bool {
    file.path
        .extension()
        .is_some_and(|extension| extension == "md")
}

#[track_caller]
fn page<'a>(sources: &'a [Source], path: &str) -> &'a Source {
    let found = sources.iter().find(|file| file.path == Path::new(path));
    found.unwrap_or_else(|| panic!("{path} is missing"))
}

/// The lines of a page that are prose, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Link targets outside code, with the line they are on.
fn links(text: &str) -> impl Iterator<Item = (usize, String)> {
    prose(text).flat_map(|(number, line)| {
        // Every second part is inside backticks.
        let outside: Vec<&str> = line.split('`').step_by(2).collect();
        let outside = outside.join("");
        let targets: Vec<(usize, String)> = outside
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(target, _)| (number, target.to_owned()))
            .collect();
        targets
    })
}

fn broken_links(page: &Source, pages: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, target) in links(&page.text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let path = if file.is_empty() {
            page.path.clone()
        } else {
            normal(&page.path.with_file_name("").join(file))
        };
        let linked = pages.iter().find(|other| other.path == path);
        let exists = linked.is_some() || crate::workspace::root().join(&path).exists();
        if !exists {
            found.push(format!("{}: no file for `{target}`", page.at(number)));
        } else if !anchor.is_empty()
            && linked.is_some_and(|linked| !headings(&linked.text).any(|name| name == anchor))
        {
            found.push(format!("{}: no heading for `{target}`", page.at(number)));
        }
    }
    found
}

fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// The anchors that a renderer makes of headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
}

fn uncompiled(page: &Source, examples: &str) -> Vec<String> {
    let path = page.path.to_string_lossy().into_owned();
    let included = examples.contains(&format!("/{path}\""));
    let blocks = page.text.lines().enumerate();
    blocks
        .filter(|(_, line)| line.trim_start().starts_with("```rust"))
        .filter(|(_, line)| !included || line.contains("ignore"))
        .map(|(number, _)| format!("{}: an example that nothing compiles", page.at(number)))
        .collect()
}

/// Rows of a table whose last cell names a test that does not exist, or says nothing.
fn unproven(table: &Source, sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in prose(&table.text) {
        let Some(cells) = line.trim().strip_prefix('|') else {
            continue;
        };
        let last = cells
            .trim_end_matches('|')
            .rsplit('|')
            .next()
            .unwrap_or_default()
            .trim();
        if last.starts_with("---") || last == "test" {
            continue;
        }
        if last.is_empty() {
            found.push(format!("{}: neither a test nor a reason", table.at(number)));
        }
        let named = last
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.contains("::"));
        for name in named {
            if !exists(name, sources) {
                found.push(format!("{}: no test `{name}`", table.at(number)));
            }
        }
    }
    found
}

/// `path::name` or `path::module::name`, the path from the workspace or from any folder in it.
fn exists(name: &str, sources: &[Source]) -> bool {
    let Some((path, function)) = name.split_once("::") else {
        return false;
    };
    let function = function.rsplit("::").next().unwrap_or_default();
    let declaration = format!("fn {function}(");
    sources
        .iter()
        .filter(|file| file.path.ends_with(path))
        .any(|file| is_test(&file.text, &declaration))
}

/// Is the declaration preceded by a test attribute, or inside a macro that makes tests?
fn is_test(text: &str, declaration: &str) -> bool {
    let Some(at) = text.find(declaration) else {
        return false;
    };
    let before = text.get(..at).unwrap_or_default();
    // The declaration's own line may begin with `async`.
    let above = before.rfind('\n').and_then(|end| before.get(..end));
    let attributes = above.unwrap_or_default().lines().rev().take_while(|line| {
        let line = line.trim();
        !line.is_empty() && !line.ends_with('}') && !line.ends_with(';')
    });
    let attributes: Vec<&str> = attributes.collect();
    attributes
        .iter()
        .any(|line| line.contains("test]") || line.contains("test("))
}
