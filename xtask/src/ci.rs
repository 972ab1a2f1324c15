//! `cargo xtask ci`: is this tree ready to be merged? Exactly what the build server runs.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::run::{Failure, cargo, command_line, pass_through};
use crate::{unpacked, workspace};

const PACKAGING: &str = "packaging";

/// Everything the build server checks, in its order.
///
/// Formatting, lints, the house rules, freshness of generated documentation, all tests, a minute of fuzzing,
/// documentation links, and packaging of the published crates. Stops at the first failure and prints the command
/// that repeats it.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long the decoders are fuzzed, in seconds, shared by the targets.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    fuzz_seconds: u32,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let mut spent: Vec<(&str, Duration)> = Vec::new();
    for (name, mut command) in steps(options) {
        println!("\n== {name}: {}", command_line(&command));
        let started = Instant::now();
        if name == PACKAGING {
            unpacked::forget()?;
        }
        let result = pass_through(&mut command);
        let elapsed = started.elapsed();
        if let Err(failure) = result {
            return Err(Failure::Failed(format!(
                "\n{name} failed after {:.0} s: {failure}\nrepeat it with: {}",
                elapsed.as_secs_f64(),
                command_line(&command)
            )));
        }
        spent.push((name, elapsed));
    }
    println!();
    for (name, elapsed) in &spent {
        println!("{name:<14} {:>6.1} s", elapsed.as_secs_f64());
    }
    let total: Duration = spent.iter().map(|(_, elapsed)| *elapsed).sum();
    println!("{:<14} {:>6.1} s, all passed", "total", total.as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

fn steps(options: &Options) -> Vec<(&'static str, Command)> {
    let mut fuzz = cargo(&[
        "run",
        "--release",
        "--package",
        "replicant-fuzz",
        "--",
        "--seconds",
    ]);
    fuzz.arg(options.fuzz_seconds.to_string());
    let mut documentation = cargo(&["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    let mut packaging = cargo(&["package", "--allow-dirty"]);
    for package in workspace::PUBLISHED {
        packaging.args(["--package", package]);
    }
    vec![
        ("formatting", cargo(&["fmt", "--all", "--check"])),
        (
            "lints",
            cargo(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        ("tests", cargo(&["xtask", "test"])),
        ("fuzzing", fuzz),
        ("documentation", documentation),
        (PACKAGING, packaging),
    ]
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn every_run_fuzzes_for_a_minute_unless_told_otherwise() {
        let line = Line::try_parse_from(["ci"]).unwrap_or_else(|error| panic!("{error}"));
        let shown: Vec<String> = steps(&line.options)
            .iter()
            .map(|(_, command)| command_line(command))
            .collect();
        let fuzzed = shown
            .iter()
            .any(|step| step.ends_with("replicant-fuzz -- --seconds 60"));
        assert!(fuzzed, "{shown:?}");
    }
}
