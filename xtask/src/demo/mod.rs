//! `cargo xtask demo`: does the main job work on this machine, under traffic and with crashes?
//!
//! ```text
//! traffic ──► shop database ──► pipeline (a process of its own, killed twice) ──► mirror database
//!                  └──────────────── compared row by row at the end ────────────────┘
//! ```

mod lag;
mod report;
mod stage;
mod traffic;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use replicant_shop::verify;
use tokio_postgres::Client;

use self::report::Report;
use self::stage::Stage;
use self::traffic::Workers;
use crate::provision;
use crate::run::Failure;
use crate::shop_process::{Constraints, Ends, Profile, Program, ShopProcess};

/// Show the main job on this machine: a live mirror under traffic that survives being killed.
///
/// Starts two private PostgreSQL servers, creates the shop example and its mirror, lets the shop's application work
/// (inserts, updates, deletes, key changes, transactions over four tables with foreign keys, savepoints, values that
/// few types can hold), kills the pipeline with SIGKILL twice and starts it again. Then traffic stops, the mirror
/// catches up, and every row of both sides is compared as the servers print it. Exit code 0 means that nothing is
/// missing, duplicated or different.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long the shop is open.
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u64).range(3..=3600))]
    seconds: u64,
    /// Transactions per second that the shop's application is asked to run.
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rate: u32,
    /// Print one JSON object at the end and nothing else.
    #[arg(long)]
    json: bool,
    /// Leave both servers running afterwards and say how to reach and stop them.
    #[arg(long)]
    keep: bool,
}

/// How often the pipeline is killed.
const KILLS: u32 = 2;
const SESSIONS: u32 = 2;
const SEED: u64 = 20_240_601;
const CATCH_UP: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let say = Say::new(options);
    let installation = provision::postgres()?;
    say.line("building the shop");
    let program = Program::build(Profile::Development)?;
    say.line(&format!(
        "starting two private PostgreSQL {} servers",
        installation.version()
    ));
    let runtime = tokio::runtime::Runtime::new()?;
    let (stage, report) = runtime.block_on(async {
        let stage = Stage::open(&installation).await?;
        let report = perform(options, &stage, &program, &say).await?;
        Ok::<_, Failure>((stage, report))
    })?;
    if options.json {
        println!("{}", report.json()?);
    } else {
        report.print();
    }
    if options.keep {
        stage.keep();
    }
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

async fn perform(
    options: &Options,
    stage: &Stage,
    program: &Program,
    say: &Say,
) -> Result<Report, Failure> {
    let ends = Ends {
        pipeline: "shop",
        source: stage.source_conninfo(),
        destination: stage.mirror_conninfo(),
        source_identity: stage.identity.clone(),
        constraints: Constraints::Deferred,
    };
    let mut pipeline = program.start(&ends)?;
    stage.streaming().await?;
    say.line("the pipeline streams; the shop opens");

    let workers = Workers::start(stage, SEED, SESSIONS, options.rate).await?;
    let opened = Instant::now();
    let total = Duration::from_secs(options.seconds);
    let bar = say.bar(options.seconds);
    let mut restarts = 0;
    while opened.elapsed() < total {
        if let Some(status) = pipeline.ended() {
            return Err(Failure::Failed(format!(
                "the pipeline ended by itself with {status}"
            )));
        }
        // At one third and two thirds of the time.
        if restarts < KILLS && opened.elapsed() > total * (restarts + 1) / (KILLS + 1) {
            pipeline.kill();
            bar.println("  pipeline killed with SIGKILL; starting it again");
            pipeline = program.start(&ends)?;
            restarts += 1;
        }
        progress(&bar, opened, &workers, stage).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let done = workers.stop().await?;
    bar.finish_and_clear();
    say.line("the shop is closed; waiting for the mirror");
    catch_up(stage, &mut pipeline).await?;
    let verdict = verify::compare(&stage.source, &stage.mirror).await?;
    let lag = lag::measure(&stage.source, &stage.mirror).await?;
    pipeline.stop()?;
    Ok(Report::new(
        done,
        &verdict,
        restarts,
        lag,
        stage.version.clone(),
    ))
}

async fn progress(
    bar: &ProgressBar,
    opened: Instant,
    workers: &Workers,
    stage: &Stage,
) -> Result<(), Failure> {
    let behind = bytes_behind(&stage.source).await?;
    bar.set_position(opened.elapsed().as_secs());
    bar.set_message(format!(
        "{} transactions, {:.1} KiB behind",
        workers.transactions(),
        behind / 1024.0
    ));
    Ok(())
}

/// What the slot has not been told to forget yet.
async fn bytes_behind(source: &Client) -> Result<f64, Failure> {
    let row = source
        .query_one(
            "select coalesce(max(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), \
             confirmed_flush_lsn)), 0)::float8 from pg_catalog.pg_replication_slots",
            &[],
        )
        .await?;
    Ok(row.get(0))
}

/// A last transaction that arrives means that everything before it has arrived.
async fn catch_up(stage: &Stage, pipeline: &mut ShopProcess) -> Result<(), Failure> {
    let marker = stage.write_marker().await?;
    let deadline = Instant::now() + CATCH_UP;
    while !stage.has_marker(marker).await? {
        if let Some(status) = pipeline.ended() {
            return Err(Failure::Failed(format!(
                "the pipeline ended by itself with {status}"
            )));
        }
        if Instant::now() > deadline {
            return Err(Failure::Failed(format!(
                "the mirror did not catch up within {} s",
                CATCH_UP.as_secs()
            )));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Progress for people; silent when a program reads our output.
struct Say {
    quiet: bool,
}

impl Say {
    fn new(options: &Options) -> Self {
        Self {
            quiet: options.json,
        }
    }

    fn line(&self, text: &str) {
        if !self.quiet {
            println!("{text}");
        }
    }

    /// Drawn on a terminal only; elsewhere indicatif hides it.
    fn bar(&self, seconds: u64) -> ProgressBar {
        if self.quiet {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{bar:30} {pos:>3}/{len} s  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(seconds).with_style(style)
    }
}
