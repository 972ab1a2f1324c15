//! The house rules that a machine can judge, each a test.
//!
//! A rule returns what breaks it as lines that an editor can jump to; its test fails when there are any. Adding a
//! rule means: a function here or in a sibling, and one test that also shows the rule refusing something.

mod book;
mod edges;
mod files;
mod manifest;
mod vocabulary;

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace;

/// A source file and where it is, relative to the workspace.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Source {
    #[cfg(test)]
    pub(crate) fn of(path: &str, text: &str) -> Self {
        Self {
            path: PathBuf::from(path),
            text: text.to_owned(),
        }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    /// Code samples that a test compiles on purpose; the house rules are not about them.
    pub(crate) fn is_sample(&self) -> bool {
        let parts: Vec<_> = self.path.iter().filter_map(|part| part.to_str()).collect();
        matches!(parts.as_slice(), ["tests", "compile", folder, .., _] if *folder != "src" && parts.len() > 4)
    }

    /// `path:line`, as compilers print it.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("{}:{}", self.path.display(), line + 1)
    }
}

/// Every text file that we wrote, whether committed yet or not.
pub(crate) fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    walk(&workspace::root(), &mut found);
    found
}

fn walk(folder: &Path, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !matches!(name.as_ref(), "target" | ".git" | "book" | "corpus") {
                walk(&path, found);
            }
        } else if is_ours(&name)
            && let Ok(text) = fs::read_to_string(&path)
            && let Ok(relative) = path.strip_prefix(workspace::root())
        {
            found.push(Source {
                path: relative.to_path_buf(),
                text,
            });
        }
    }
}

fn is_ours(name: &str) -> bool {
    let extension = name.rsplit('.').next().unwrap_or_default();
    matches!(
        extension,
        "rs" | "toml" | "md" | "sql" | "sh" | "yml" | "yaml" | "stderr"
    )
}

/// The identifiers and other words of Rust code: no comments, no string or character literals.
///
/// A lexer of a few lines is enough for words: it knows line and nested block comments, strings with escapes and
/// raw strings. A lifetime looks like the start of a character literal and is told apart by its length.
pub(crate) fn words(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut line = 0;
    let mut word = String::new();
    let mut rest = text.chars().peekable();
    let mut depth = 0_u32;
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        if c == '\n' {
            line += 1;
        }
        if depth > 0 {
            match (c, next) {
                ('*', Some('/')) => {
                    rest.next();
                    depth -= 1;
                }
                ('/', Some('*')) => {
                    rest.next();
                    depth += 1;
                }
                _ => {}
            }
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let raw = matches!(word.as_str(), "r" | "br" | "cr");
        if !word.is_empty() {
            found.push((line - usize::from(c == '\n'), std::mem::take(&mut word)));
        }
        match (c, next) {
            ('/', Some('/')) => while rest.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => {
                rest.next();
                depth = 1;
            }
            ('"', _) if !raw => {
                while let Some(c) = rest.next() {
                    match c {
                        '\\' if rest.next() != Some('\n') => {}
                        '\\' | '\n' => line += 1,
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('"' | '#', _) if raw => {
                let mut hashes = usize::from(c == '#');
                if c == '#' {
                    while rest.next_if_eq(&'#').is_some() {
                        hashes += 1;
                    }
                    if rest.next_if_eq(&'"').is_none() {
                        continue; // a raw identifier
                    }
                }
                let mut seen = usize::MAX;
                for c in rest.by_ref() {
                    line += usize::from(c == '\n');
                    seen = match c {
                        '"' => 0,
                        '#' if seen != usize::MAX => seen + 1,
                        _ => usize::MAX,
                    };
                    if seen == hashes {
                        break;
                    }
                }
            }
            ('\'', Some('\\')) => {
                rest.next();
                rest.next();
                while rest.next_if(|c| *c != '\'').is_some() {}
                rest.next();
            }
            ('\'', Some(inner)) => {
                let mut ahead = rest.clone();
                ahead.next();
                if ahead.next() == Some('\'') {
                    line += usize::from(inner == '\n');
                    rest.next();
                    rest.next();
                }
            }
            _ => {}
        }
    }
    if !word.is_empty() {
        found.push((line, word));
    }
    found
}

/// Fails with one line per violation.
#[track_caller]
pub(crate) fn none(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} violations:\n{}",
        violations.len(),
        violations.join("\n")
    );
}

#[test]
fn words_are_code_only() {
    let code = "let a = \"b \\\" c\"; // d\n/* e /* f */ g */ let h = r#\"i \" j\"#; 'k: loop { 'l'; '\\'' }";
    let found: Vec<String> = words(code).into_iter().map(|(_, word)| word).collect();
    assert_eq!(found, ["let", "a", "let", "h", "r", "k", "loop"]);
    assert_eq!(words("x\ny").last(), Some(&(1, "y".to_owned())));
}
