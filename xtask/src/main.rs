//! Workspace tools: which command does what? `cargo xtask --help` answers the same question.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are commands; what they find out is printed"
)]

mod bench;
mod ci;
mod demo;
mod provision;
mod reference;
mod run;
mod runner_output;
mod shop_process;
mod test;
#[cfg(test)]
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Everything a developer of this workspace does more than once.
///
/// Every command provides the PostgreSQL servers it needs: it finds an installed one, starts private throw-away
/// clusters on free ports in temporary folders, and stops them when it ends, however it ends.
#[derive(Parser)]
#[command(name = "cargo xtask", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Options),
    Test(test::Options),
    Bench(bench::Options),
    Docs(reference::Options),
    Ci(ci::Options),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            // Help and version are answers; anything else means that the question could not be asked.
            return if error.use_stderr() {
                ExitCode::from(3)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let result = match arguments.command {
        Command::Demo(options) => demo::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Docs(options) => reference::run(&options),
        Command::Ci(options) => ci::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}
