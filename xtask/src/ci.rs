//! `cargo xtask ci`: is this tree ready to be merged? Exactly what the build server runs.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::run::{Failure, cargo, command_line, pass_through};
use crate::workspace;

/// Name of the fuzz driver's package; the step is left out while it does not exist.
const FUZZ: &str = "replicant-fuzz";

/// Everything the build server checks, in its order.
///
/// Formatting, lints, the house rules, freshness of generated documentation, all tests, a short fuzz run,
/// documentation links, and packaging of the published crates. Stops at the first failure and prints the command
/// that repeats it.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long the decoders are fuzzed, in seconds.
    #[arg(long, default_value_t = 20, value_name = "SECONDS")]
    fuzz_seconds: u32,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let mut spent: Vec<(&str, Duration)> = Vec::new();
    for (name, mut command) in steps(options)? {
        println!("\n== {name}: {}", command_line(&command));
        let started = Instant::now();
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

fn steps(options: &Options) -> Result<Vec<(&'static str, Command)>, Failure> {
    let metadata = workspace::metadata()?;
    let mut steps = vec![
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
    ];
    if metadata.packages.iter().any(|package| package.name == FUZZ) {
        let mut fuzz = cargo(&["run", "--release", "--package", FUZZ, "--", "--seconds"]);
        fuzz.arg(options.fuzz_seconds.to_string());
        steps.push(("fuzzing", fuzz));
    }
    let mut documentation = cargo(&["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    steps.push(("documentation", documentation));
    let mut packaging = cargo(&["package", "--allow-dirty"]);
    for package in workspace::PUBLISHED {
        packaging.args(["--package", package]);
    }
    steps.push(("packaging", packaging));
    Ok(steps)
}
