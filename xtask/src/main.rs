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
mod unpacked;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::run::Failure;

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
    /// Check whether the shop's pipeline may start; configured by REPLICANT_SHOP_SOURCE and its siblings.
    #[command(disable_help_flag = true)]
    Preflight(Rest),
    /// Everything preflight checks, the checkpoint and the running pipeline too.
    #[command(disable_help_flag = true)]
    Doctor(Rest),
    /// Say what the shop's pipeline is doing.
    #[command(disable_help_flag = true)]
    Status(Rest),
    Demo(demo::Options),
    Test(test::Options),
    Bench(bench::Options),
    Docs(reference::Options),
    Ci(ci::Options),
}

/// Arguments that the operator command reads itself.
#[derive(clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<OsString>,
}

/// The same commands that a host gets from its own binary, on the workspace's example.
fn operate(command: &str, rest: Rest) -> Result<ExitCode, Failure> {
    let pipeline = replicant_shop::pipeline()
        .configured_by_environment()
        .map_err(|error| Failure::Unanswerable(error.to_string()))?;
    let arguments = ["cargo xtask", command].map(OsString::from);
    let exit = replicant_cli::run(arguments.into_iter().chain(rest.rest), [pipeline]);
    Ok(exit.into())
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
        Command::Preflight(rest) => operate("preflight", rest),
        Command::Doctor(rest) => operate("doctor", rest),
        Command::Status(rest) => operate("status", rest),
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
