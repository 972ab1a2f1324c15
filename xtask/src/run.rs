//! How does a command run another program, and what does it say when that fails?

use std::fmt;
use std::process::{Command, ExitCode, Stdio};

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that must hold does not.
    Failed(String),
    /// The question could not be asked: no server, a wrong option.
    Unanswerable(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Failed(_) => ExitCode::from(1),
            Self::Unanswerable(_) => ExitCode::from(3),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) | Self::Unanswerable(why) => f.write_str(why),
        }
    }
}

impl From<replicant_test_servers::Error> for Failure {
    fn from(error: replicant_test_servers::Error) -> Self {
        Self::Unanswerable(error.to_string())
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        replicant_test_servers::Error::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Unanswerable(error.to_string())
    }
}

/// The cargo that started us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(crate::workspace::root());
    command
}

/// Runs a command to its end, its output passing through.
pub(crate) fn pass_through(command: &mut Command) -> Result<(), Failure> {
    let line = command_line(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::Unanswerable(format!("`{line}` could not run: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Failed(format!("`{line}` failed ({status})")))
    }
}

/// Runs a command to its end and returns what it printed; its errors pass through.
pub(crate) fn output_of(command: &mut Command) -> Result<String, Failure> {
    let line = command_line(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::Unanswerable(format!("`{line}` could not run: {error}")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::Failed(format!(
            "`{line}` failed ({})",
            output.status
        )))
    }
}

/// A command as one would type it.
pub(crate) fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program())
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    command.get_args().fold(program, |line, argument| {
        format!("{line} {}", argument.to_string_lossy())
    })
}
