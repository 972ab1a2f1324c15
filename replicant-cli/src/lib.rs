//! The commands of a Replicant host, for the engineer on call.
//!
//! Rust cannot look for a program's pipelines, so the program hands them over:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     replicant_cli::main([]) // replicant_cli::main([shop::pipeline()])
//! }
//! ```
//!
//! Every command answers with an exit code: 0 clean, 1 a failed check, 2 warnings only, 3 the question could not be
//! asked. Nothing here prints a row's value, a password or a server's message.
//!
//! Reading order: [`arguments`] (what can be asked), [`exit`], [`explain`], [`catalogue`],
//! `migrations`.

pub mod arguments;
pub mod catalogue;
mod checkpoint;
mod commands;
pub mod exit;
pub mod explain;
mod keys;
mod migrations;
mod panic_hook;
mod report;
mod screen;
mod status;

use std::ffi::OsString;
use std::process::ExitCode;

pub use exit::Exit;
pub use panic_hook::install as withhold_panic_messages;
use replicant_sink::pipeline::Pipeline;

/// Runs the command in this process's arguments on these pipelines.
///
/// It never ends the process itself, so destructors run.
pub fn main(pipelines: impl IntoIterator<Item = Pipeline>) -> ExitCode {
    run(std::env::args_os(), pipelines).into()
}

/// The same with arguments from elsewhere, for a host that has commands of its own. The first argument is the
/// program's name.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    pipelines: impl IntoIterator<Item = Pipeline>,
) -> Exit {
    panic_hook::install();
    let pipelines: Vec<Pipeline> = pipelines.into_iter().collect();
    match arguments::parse(arguments) {
        Ok(command) => commands::run(command, &pipelines, &mut screen::standard()),
        Err(error) => {
            // An unwritable terminal is no reason to fail differently.
            let _ = error.print();
            if error.use_stderr() {
                Exit::NotAsked
            } else {
                Exit::Clean
            }
        }
    }
}
