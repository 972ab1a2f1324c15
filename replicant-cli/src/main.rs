//! The `replicant` binary: the commands that need no pipeline. A host links the library with its own pipelines.

use std::process::ExitCode;

fn main() -> ExitCode {
    replicant_cli::main([])
}
