//! What can be asked, and how is it spelled?

use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Write migrations: what the declarations ask of the destination, as files for sqlx.
    ///
    /// Writes `<version>_<name>.up.sql` and `.down.sql` with the checkpoint's schema, the unique indexes that rows,
    /// versions and events are found by, provenance columns and, with --tables, the tables themselves. Beside them,
    /// `replicant.snapshot.json` records what was declared, so that the next run writes only what has changed since.
    /// Asks no database. All pipelines of the program share the directory; give pipelines with different
    /// destinations a directory each, with --pipeline and --dir.
    ///
    /// Exit code 0: written, or nothing to write; 1: --check found something to write, or a change would lose values
    /// and was not meant; 3: directory, snapshot or declaration cannot be used.
    #[command(after_help = "\
Examples:
  migrations --tables                         the first time: tables, indexes and the checkpoint
  migrations --name orders_by_email           what has changed since
  migrations --check                          for continuous integration: is anything not written?
  migrations --dry-run                        print both files instead

What drops a column or a table is written as a comment, and the destination keeps it. A conversion that may lose \
values is refused. --allow-destructive writes both.")]
    Migrations(Migrations),
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

/// Which migrations, and where.
#[derive(Args, Clone, PartialEq, Eq, Debug)]
pub struct Migrations {
    /// This pipeline only; the others stay as they were written. All of them if it is left out.
    #[arg(long, value_name = "NAME")]
    pub pipeline: Option<String>,
    /// Where the migrations are.
    #[arg(long, value_name = "DIRECTORY", default_value = "migrations")]
    pub dir: PathBuf,
    /// What the migration is called, behind its version.
    #[arg(long, value_name = "NAME", default_value = "replicant")]
    pub name: String,
    /// Write the tables too, and those that are declared later. A table that the host made stays the host's.
    #[arg(long)]
    pub tables: bool,
    /// Write what drops columns and tables, and conversions that may lose values.
    #[arg(long)]
    pub allow_destructive: bool,
    /// Write nothing; exit with 1 when something would be written.
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
    /// Write nothing; print what would be written.
    #[arg(long)]
    pub dry_run: bool,
    /// For people or for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
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
    /// Which pipeline is asked; `None` for a command that asks none.
    pub fn choice(&self) -> Option<&Choice> {
        match self {
            Self::Explain(_) | Self::Migrations(_) => None,
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
