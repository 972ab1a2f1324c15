//! How tests ask the compiler: `cargo check` on crates that are not meant to compile, and what it reports.

#![allow(dead_code, reason = "each test asks for a part of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not understand"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// One error.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// The file of its primary span, relative to the package.
    pub(crate) file: String,
    /// The first line of its primary span.
    pub(crate) line: usize,
    /// What is underlined, all lines of it.
    pub(crate) underlined: String,
    /// Its words.
    pub(crate) message: String,
    /// The compiler's own code, if it has one.
    pub(crate) compiler_code: String,
    /// As printed, without what differs between machines.
    pub(crate) rendered: String,
}

impl Report {
    /// The rule it names, or the compiler's own code.
    pub(crate) fn code(&self) -> String {
        let named = self
            .message
            .split_once("replicant[")
            .and_then(|(_, rest)| rest.split_once(']'));
        named.map_or_else(|| self.compiler_code.clone(), |(code, _)| code.to_owned())
    }
}

/// This package's folder.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Checks binaries of this package and returns their errors, in the order reported.
///
/// # Panics
/// When cargo cannot be run.
pub(crate) fn check<B: AsRef<str>>(binaries: &[B]) -> Vec<Report> {
    check_with(binaries, None)
}

/// The same, with declarations written by the test.
pub(crate) fn check_with<B: AsRef<str>>(binaries: &[B], generated: Option<&Path>) -> Vec<Report> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(package())
        .args([
            "check",
            "--offline",
            "--quiet",
            "--keep-going",
            "--message-format=json",
        ])
        .args([
            "--package",
            "replicant-compile-tests",
            "--features",
            "mistakes",
        ]);
    for binary in binaries {
        cargo.args(["--bin", binary.as_ref()]);
    }
    if let Some(path) = generated {
        cargo.env("REPLICANT_GENERATED", path);
    }
    let output = cargo.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let reports: Vec<Report> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["reason"] == "compiler-message")
        .filter_map(|line| report(&line["message"]))
        .collect();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || !reports.is_empty(),
        "{complaint}"
    );
    reports
}

fn report(message: &Value) -> Option<Report> {
    if message["level"] != "error" {
        return None;
    }
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().find(|span| span["is_primary"] == true)?;
    let (file, line) = (
        primary["file_name"].as_str()?,
        primary["line_start"].as_u64()?,
    );
    Some(Report {
        file: relative(file),
        line: usize::try_from(line).ok()?,
        underlined: underlined(primary),
        message: message["message"].as_str()?.to_owned(),
        compiler_code: message["code"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        rendered: stable(message["rendered"].as_str()?),
    })
}

fn underlined(span: &Value) -> String {
    let lines = span["text"].as_array().into_iter().flatten().map(|line| {
        let column = |name: &str| usize::try_from(line[name].as_u64().unwrap_or(1)).unwrap_or(1);
        let (start, end) = (column("highlight_start"), column("highlight_end"));
        let text = line["text"].as_str().unwrap_or_default();
        text.chars()
            .skip(start - 1)
            .take(end.saturating_sub(start))
            .collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Paths as seen from the package.
fn relative(path: &str) -> String {
    path.strip_prefix("tests/compile/")
        .unwrap_or(path)
        .to_owned()
}

/// Without what differs between machines and releases of the library: the workspace's place, the lines inside it, and
/// how many more types there are.
fn stable(rendered: &str) -> String {
    let root: PathBuf = package().join("../..");
    let root = root.canonicalize().unwrap_or(root);
    let mut stable = String::new();
    let mut inside = false;
    for line in rendered.lines() {
        let line = line.replace(&format!("{}/", root.display()), "");
        let line = line.replace("--> tests/compile/", "--> ");
        let line = if let Some((_, place)) = line.split_once("--> ") {
            inside = place.starts_with("replicant-");
            match place.split_once(".rs:") {
                Some((path, _)) if inside => format!("  --> {path}.rs"),
                _ => line,
            }
        } else if inside
            && let Some((gutter, code)) = line.split_once(" |")
            && is_gutter(gutter)
        {
            format!("   |{code}")
        } else {
            inside = false;
            many_others(line)
        };
        stable.push_str(line.trim_end());
        stable.push('\n');
    }
    stable
}

fn is_gutter(text: &str) -> bool {
    text.chars()
        .all(|letter| letter == ' ' || letter.is_ascii_digit())
}

fn many_others(line: String) -> String {
    match line.split_once("and ") {
        Some((before, rest)) if before.trim().is_empty() && rest.ends_with(" others") => {
            format!("{before}and more")
        }
        _ => line,
    }
}
