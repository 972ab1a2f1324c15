//! How fast is the stream read and decoded, compared with `pg_recvlogical` throwing it away?
//!
//! Both are programs that read the same backlog over TCP with the same plugin options and throw it away; Replicant's
//! decodes and assembles every row first. The clock, the same for both: start of the walsender's session to the end
//! of the program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::arena::{Arena, Prepared, WALSENDER_START};
use super::report::{Decode, median};
use crate::run::{Failure, cargo, pass_through};
use crate::workspace;

const RESOLUTION: Duration = Duration::from_millis(2);
const DEADLINE: Duration = Duration::from_secs(300);

/// Both readers, in alternating runs; `None` when this installation has no `pg_recvlogical`.
pub(crate) async fn compare(
    arena: &Arena,
    prepared: &Prepared,
    runs: u32,
) -> Result<Option<Decode>, Failure> {
    let Some(baseline) = arena.source.installation().program("pg_recvlogical") else {
        return Ok(None);
    };
    let replicant = stream_rate()?;
    let conninfo = arena.source.conninfo(&prepared.database);
    let mut replicant_results = Vec::new();
    let mut baseline_results = Vec::new();
    for run in 1..=runs {
        let mut command = Command::new(&replicant);
        command.args([&conninfo, SLOT, "shop"]);
        replicant_results.push(measure(prepared, &mut command, "stream_rate").await?);
        let mut command = Command::new(&baseline);
        command
            .args(["--dbname", &conninfo, "--slot", SLOT, "--start"])
            .args(["--no-loop", "--file", "/dev/null"])
            .args(["--option", "proto_version=1"])
            .args(["--option", "publication_names=shop"])
            .args(["--endpos", &prepared.end_lsn, "--fsync-interval", "0"]);
        baseline_results.push(measure(prepared, &mut command, "pg_recvlogical").await?);
        eprintln!(
            "decode {run}/{runs} replicant {:>9.0} rows/s, pg_recvlogical {:>9.0} rows/s",
            replicant_results.last().copied().unwrap_or_default(),
            baseline_results.last().copied().unwrap_or_default(),
        );
    }
    let (Some(replicant), Some(baseline)) = (median(&replicant_results), median(&baseline_results))
    else {
        return Ok(None);
    };
    Ok(Some(Decode {
        replicant_rows_per_s: replicant,
        pg_recvlogical_rows_per_s: baseline,
        ratio: replicant / baseline,
    }))
}

const SLOT: &str = "decode";

/// The transport's example that reads a slot and counts.
fn stream_rate() -> Result<PathBuf, Failure> {
    pass_through(&mut cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "replicant-transport",
        "--features",
        "client",
        "--example",
        "stream_rate",
    ]))?;
    let target = workspace::metadata()?.target_directory;
    Ok(target.join("release/examples/stream_rate").into())
}

/// Rows per second of one run of a program over a fresh copy of the slot.
async fn measure(prepared: &Prepared, command: &mut Command, name: &str) -> Result<f64, Failure> {
    let source = &prepared.client;
    let copy = "select pg_catalog.pg_copy_logical_replication_slot('backlog', $1)";
    source.query(copy, &[&SLOT]).await?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Failure::Unanswerable(format!("{name}: {error}")))?;
    let deadline = Instant::now() + DEADLINE;
    let mut started: Option<f64> = None;
    let status = loop {
        if started.is_none() {
            let row = source.query_opt(WALSENDER_START, &[&SLOT]).await?;
            started = row.map(|row| row.get(0));
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            let _gone = child.kill();
            return Err(Failure::Failed(format!("{name} did not end in time")));
        }
        tokio::time::sleep(RESOLUTION).await;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let drop_slot = "select pg_catalog.pg_drop_replication_slot($1)";
    source.query(drop_slot, &[&SLOT]).await?;
    match (started, now) {
        (Some(start), Ok(now)) if status.success() => {
            Ok(f64::from(prepared.workload.rows()) / (now.as_secs_f64() - start))
        }
        _ => Err(Failure::Failed(format!("{name}: {status}"))),
    }
}
