//! What can be asked, and how is it spelled?

use std::ffi::OsString;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use replicant_transport::position::Lsn;

/// Mirror PostgreSQL tables into another PostgreSQL, every source transaction taking effect exactly once.
///
/// Exit codes: 0 clean, 1 a failed check, 2 warnings only, 3 the question could not be asked.
#[derive(Parser, Debug)]
#[command(
    name = "replicant",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "\
Examples:
  preflight                     may it start?
  doctor --format json          is everything in order? as one JSON object
  status --pipeline shop        what is it doing, and how far behind is it?
  explain slot_invalidated      what does that code mean, and what is to be done?

Colours are for terminals only; NO_COLOR turns them off."
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
    ///
    /// Every check of a start is run and reported, whatever fails before it. What could not be judged is `skipped`,
    /// which is not a pass. Names no identity and no position, except the line to paste when `source_identity` is
    /// missing.
    Preflight(Choice),
    /// Everything preflight checks, and the checkpoint, the slot and the owner too.
    ///
    /// Is the stored contract still the declared one, does the slot still have what the destination lacks, does
    /// somebody run the pipeline, and how did the last owner end? Reads both databases, changes nothing.
    Doctor(Choice),
    /// Say what a pipeline is doing: streaming, catching up, stopped and why, and how far behind.
    ///
    /// Asked from anywhere: a running pipeline writes a heartbeat into its checkpoint every 3 s. Prints positions and
    /// the source's identity. Exit code 0: it runs; 2: it does not run, or needs a look; 1: it halted or vanished; 3: the
    /// destination could not be asked.
    Status(Choice),
    /// Count the values of every sealed column by the key that sealed them.
    ///
    /// A key may leave the vault once no value of it is left. Reads every row of the tables with sealed columns, and
    /// opens nothing. Exit code 0: every value can be opened; 1: some cannot; 2: the pipeline has no vault.
    Keys(Choice),
    /// Look at a checkpoint, or decide what only a person may decide about it.
    #[command(subcommand)]
    Checkpoint(Checkpoint),
}

/// Decisions about a checkpoint. Each refuses while the pipeline runs, changes nothing the second time, and is recorded.
#[derive(Subcommand, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// Print the checkpoint: how far the mirror is, under which contract, who may write.
    Show(Choice),
    /// Take over a mirror that another tool filled: its state is that of the given position.
    #[command(after_help = "\
Examples:
  checkpoint adopt --flush-lsn 0/16B3748     everything before this end position is there, as a slot confirms it
  checkpoint adopt --commit-lsn 0/16B3700    everything through the transaction with this commit record is there")]
    Adopt(Adopt),
    /// Forget how far the mirror is. Refuses while the slot exists.
    Reset(Reset),
    /// Accept that the source was promoted: go on behind its new timeline.
    AckTimeline(AckTimeline),
    /// Not available yet: leave out one source transaction that cannot be applied. It is recorded.
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
#[command(group = ArgGroup::new("position").required(true))]
pub struct Adopt {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// The mirror holds everything before this end position, such as a slot's confirmed_flush_lsn.
    #[arg(long, value_name = "LSN", group = "position")]
    pub flush_lsn: Option<Lsn>,
    /// The mirror holds everything through the transaction with this commit record; the existing slot is trusted
    /// with the rest.
    #[arg(long, value_name = "LSN", group = "position")]
    pub commit_lsn: Option<Lsn>,
    /// Consent.
    #[command(flatten)]
    pub consent: Consent,
}

/// Forget a checkpoint.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct Reset {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// The slot may stay: the mirror goes forward from where it is, and what the slot has forgotten is not mirrored.
    #[arg(long)]
    pub keep_slot: bool,
    /// Consent.
    #[command(flatten)]
    pub consent: Consent,
}

/// Accept a timeline.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct AckTimeline {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// Consent.
    #[command(flatten)]
    pub consent: Consent,
}

/// Is the decision meant?
#[derive(Args, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Consent {
    /// Decide without asking back. Needed where nobody can be asked: without a terminal.
    #[arg(long)]
    pub yes: bool,
}

/// Leave out one transaction.
#[derive(Args, PartialEq, Eq, Debug)]
pub struct Skip {
    /// Which pipeline.
    #[command(flatten)]
    pub choice: Choice,
    /// The commit position of the transaction, as printed by the halted pipeline.
    #[arg(long, value_name = "LSN")]
    pub commit_lsn: Lsn,
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
            Self::Preflight(choice)
            | Self::Doctor(choice)
            | Self::Status(choice)
            | Self::Keys(choice) => Some(choice),
            Self::Checkpoint(checkpoint) => Some(match checkpoint {
                Checkpoint::Show(choice) => choice,
                Checkpoint::AckTimeline(accept) => &accept.choice,
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
