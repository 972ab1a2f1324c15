//! `cargo xtask bench`: how fast is Replicant beside PostgreSQL's own logical replication?

mod arena;
mod contestant;
mod decode;
mod kept;
mod latency;
mod report;
mod workload;

use std::process::ExitCode;

use self::arena::{Arena, Prepared};
use self::contestant::{Contestant, Measured};
use self::kept::Keeps;
use self::report::{Report, WorkloadReport, median};
use self::workload::{Size, Workload};
use crate::provision;
use crate::run::Failure;
use crate::shop_process::{Profile, Program};

/// Measure Replicant and a native subscription side by side.
///
/// Both are served the same backlog from copies of one slot, in alternating runs, into fresh destinations with the
/// same indexes; the median of all runs counts. The clock, the same for both: start of the walsender's session on
/// the source to the commit of the last transaction on the destination. After every run the destination is compared
/// with the source row by row. Baseline: `create subscription ... with (copy_data = false)` with the server's
/// defaults and wal_retrieve_retry_interval = 100 ms; `binary = true` beside it. Where versions or events are kept,
/// the baseline's tables have a trigger, enabled for replication, that keeps them.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A quarter of the rows, three runs each: less than two minutes.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Measure this workload only; may be repeated.
    #[arg(long, value_name = "NAME")]
    workload: Vec<String>,
    /// How many runs of each; the default is 5, with --quick 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: Option<u32>,
    /// Measure the native baseline alone.
    #[arg(long)]
    baseline_only: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let size = if options.quick {
        Size::Quick
    } else {
        Size::Full
    };
    let workloads = chosen(options, size)?;
    let runs = options.runs.unwrap_or(if options.quick { 3 } else { 5 });
    let installation = provision::postgres()?;
    let mut contestants = Vec::new();
    if !options.baseline_only {
        contestants.push(Contestant::Replicant(Program::build(Profile::Release)?));
    }
    contestants.push(Contestant::Native);
    if installation.major() >= 14 {
        contestants.push(Contestant::NativeBinary);
    }
    let report = tokio::runtime::Runtime::new()?.block_on(async {
        let arena = Arena::open(&installation)?;
        let mut report = Report {
            postgres: installation.version().to_owned(),
            settings: Arena::settings(),
            runs,
            ..Report::default()
        };
        for workload in workloads {
            let contestants = compared(workload, &contestants);
            if contestants.is_empty() {
                continue;
            }
            eprintln!("{}: writing the backlog", workload.name);
            let prepared = arena.prepare(workload).await?;
            let mirrors = prepared.workload.keeps == Keeps::Current;
            if mirrors && report.decode.is_none() && !options.baseline_only {
                report.decode = decode::compare(&arena, &prepared, runs).await?;
            }
            let line = compare(&arena, &prepared, &contestants, runs, &mut report).await?;
            report.workloads.push(line);
            if let (true, None, [Contestant::Replicant(program), ..]) =
                (mirrors, &report.latency_ms, contestants.as_slice())
            {
                let latency = latency::measure(program, &arena, &prepared).await?;
                report.latency_ms = Some(latency);
            }
            arena.close(prepared).await?;
        }
        Ok::<_, Failure>(report)
    })?;
    if options.json {
        let text = serde_json::to_string(&report)
            .map_err(|error| Failure::Unanswerable(error.to_string()))?;
        println!("{text}");
    } else {
        report.print();
    }
    Ok(ExitCode::SUCCESS)
}

/// A sealed mirror is compared with the plain one, everything else with a subscription.
fn compared(workload: Workload, contestants: &[Contestant]) -> Vec<Contestant> {
    match (workload.keeps, contestants) {
        (Keeps::Sealed, [ours @ Contestant::Replicant(program), ..]) => {
            vec![ours.clone(), Contestant::Plain(program.clone())]
        }
        (Keeps::Sealed, _) => Vec::new(),
        (_, all) => all.to_vec(),
    }
}

fn chosen(options: &Options, size: Size) -> Result<Vec<Workload>, Failure> {
    let all = workload::all(size);
    let known: Vec<&str> = all.iter().map(|workload| workload.name).collect();
    if let Some(unknown) = options
        .workload
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(Failure::Unanswerable(format!(
            "no workload `{unknown}`; there are {}",
            known.join(", ")
        )));
    }
    Ok(all
        .into_iter()
        .filter(|workload| {
            options.workload.is_empty() || options.workload.iter().any(|name| name == workload.name)
        })
        .collect())
}

/// Alternating runs, so that a busy moment of the machine hits everybody.
async fn compare(
    arena: &Arena,
    prepared: &Prepared,
    contestants: &[Contestant],
    runs: u32,
    report: &mut Report,
) -> Result<WorkloadReport, Failure> {
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); contestants.len()];
    for run in 1..=runs {
        for (contestant, results) in contestants.iter().zip(&mut measured) {
            let result = contestant.measure(arena, prepared).await?;
            eprintln!(
                "{} {run}/{runs} {:<14} {:>9.0} rows/s",
                prepared.workload.name,
                contestant.name(),
                result.rows_per_second
            );
            results.push(result);
        }
    }
    let speed = |name: &str| {
        of(contestants, &measured, name, |result| {
            result.rows_per_second
        })
    };
    let rows = prepared.workload.rows();
    let cpu = |name: &str| {
        of(contestants, &measured, name, |result| {
            result.usage.cpu_seconds * 1e6 / f64::from(rows)
        })
    };
    let peak = of(contestants, &measured, "replicant", |result| {
        result.usage.peak_rss_mib
    });
    report.peak_rss_mib = report.peak_rss_mib.into_iter().chain(peak).reduce(f64::max);
    let against = match prepared.workload.keeps {
        Keeps::Sealed => "plain",
        Keeps::Current | Keeps::Versions | Keeps::Events => "native",
    };
    let baseline = speed(against).unwrap_or(f64::NAN);
    Ok(WorkloadReport {
        name: prepared.workload.name,
        rows,
        replicant_rows_per_s: speed("replicant"),
        baseline_rows_per_s: baseline,
        baseline: prepared.workload.keeps.baseline(),
        ratio: speed("replicant").map(|ours| ours / baseline),
        binary_baseline_rows_per_s: speed("native_binary"),
        replicant_cpu_us_per_row: cpu("replicant"),
        baseline_cpu_us_per_row: cpu(against).unwrap_or(f64::NAN),
    })
}

fn of(
    contestants: &[Contestant],
    measured: &[Vec<Measured>],
    name: &str,
    figure: impl Fn(&Measured) -> f64,
) -> Option<f64> {
    let (_, results) = contestants
        .iter()
        .zip(measured)
        .find(|(contestant, _)| contestant.name() == name)?;
    median(&results.iter().map(figure).collect::<Vec<_>>())
}
