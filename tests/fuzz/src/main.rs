//! `cargo run -p replicant-fuzz -- --seconds 60 [--target NAME] [--seed N]`: fuzz for a while, or one input file.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use replicant_fuzz::drive::{self, Limit};
use replicant_fuzz::{TARGETS, Target, target};

/// Looks for inputs that break a parser of the workspace.
#[derive(Parser)]
struct Arguments {
    /// How long, shared by the targets.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where the random numbers start; a fresh one when not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this target.
    #[arg(long, value_parser = known)]
    target: Option<&'static Target>,
    /// Run the target on this file instead.
    #[arg(long, requires = "target")]
    input: Option<PathBuf>,
}

fn known(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let (Some(target), Some(path)) = (arguments.target, &arguments.input) {
        return match std::fs::read(path) {
            Ok(input) => {
                (target.run)(&input);
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                ExitCode::from(3)
            }
        };
    }
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..));
    let chosen = match arguments.target {
        Some(target) => std::slice::from_ref(target),
        None => TARGETS,
    };
    let share = u32::try_from(chosen.len()).unwrap_or(1).max(1);
    let time = Duration::from_secs(arguments.seconds) / share;
    println!("seed {seed}");
    for target in chosen {
        match drive::run(target, seed, Limit::Time(time)) {
            Ok(tried) => println!("{}: {tried} inputs", target.name),
            Err(broken) => {
                eprintln!("{broken}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
