//! What can be asked, and how is it spelled?

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Mirror PostgreSQL tables into another PostgreSQL, every source transaction taking effect exactly once.
///
/// Exit codes: 0 clean, 1 a failed check, 2 warnings only, 3 the question could not be asked.
#[derive(Parser, Debug)]
#[command(
    name = "replicant",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// One question.
#[derive(Subcommand, PartialEq, Eq, Debug)]
pub enum Command {
    /// Say what a code means and what to do about it.
    ///
    /// Codes are printed by the compiler, by a stopped pipeline and by preflight and doctor. Without a code, or with
    /// --list, prints every code.
    Explain(Explain),
    /// Check whether a pipeline may start. Reads both databases, changes nothing.
    Preflight(Choice),
    /// Everything preflight checks, and the checkpoint and the running pipeline too.
    Doctor(Choice),
    /// Say what a pipeline is doing: streaming, catching up, stopped and why, and how far behind.
    Status(Choice),
    /// Look at a checkpoint, or decide what only a person may decide about it.
    #[command(subcommand)]
    Checkpoint(Checkpoint),
}

/// Decisions about a checkpoint. Each refuses while the pipeline runs.
#[derive(Subcommand, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// Print the checkpoint: how far the mirror is, under which contract, who may write.
    Show(Choice),
    /// Take over a mirror that another tool filled: its state is that of the given position.
    Adopt(Adopt),
    /// Forget how far the mirror is. Refuses while the slot exists.
    Reset(Reset),
    /// Accept that the source was promoted: go on behind its new timeline.
    AckTimeline(Choice),
    /// Leave out one source transaction that cannot be applied. It is recorded.
    Skip(Skip),
}

/// Which code, and how it is printed.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct Explain {
    /// The code, such as destination_diverged.
    pub code: Option<String>,
    /// Print every code.
    #[arg(long, conflicts_with = "code")]
    pub list: bool,
    /// For people or for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Which pipeline, and how the answer is printed.
#[derive(Args, Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The pipeline; may be left out when there is one only.
    #[arg(long, value_name = "NAME")]
    pub pipeline: Option<String>,
    /// For people or for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Take over a mirror.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct Adopt {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// The position up to which the mirror is complete, such as 0/16B3748.
    #[arg(long, value_name = "LSN")]
    pub flush_lsn: String,
}

/// Forget a checkpoint.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct Reset {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// The slot stays, and the mirror goes on from where the slot is.
    #[arg(long)]
    pub keep_slot: bool,
}

/// Leave out one transaction.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct Skip {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// The commit position of the transaction, as printed by the halted pipeline.
    #[arg(long, value_name = "LSN")]
    pub commit_lsn: String,
}

/// For whom is the answer?
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Command {
    /// Which pipeline is meant; `None` for a command that needs none.
    pub fn choice(&self) -> Option<&Choice> {
        match self {
            Self::Explain(_) => None,
            Self::Preflight(choice) | Self::Doctor(choice) | Self::Status(choice) => Some(choice),
            Self::Checkpoint(checkpoint) => Some(match checkpoint {
                Checkpoint::Show(choice) | Checkpoint::AckTimeline(choice) => choice,
                Checkpoint::Adopt(adopt) => &adopt.choice,
                Checkpoint::Reset(reset) => &reset.choice,
                Checkpoint::Skip(skip) => &skip.choice,
            }),
        }
    }
}

/// Reads a command line.
///
/// # Errors
/// A usage error, or the help that was asked for; clap prints both.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    Arguments::try_parse_from(arguments).map(|arguments| arguments.command)
}
