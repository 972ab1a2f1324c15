//! How fast is the stream read and decoded, compared with `pg_recvlogical` throwing it away?

use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::arena::{Arena, Prepared};
use crate::run::Failure;

/// Rows per second of `pg_recvlogical -f /dev/null` over TCP; `None` when this installation does not have it.
pub(crate) async fn pg_recvlogical(
    arena: &Arena,
    prepared: &Prepared,
) -> Result<Option<f64>, Failure> {
    let Some(program) = arena.source.installation().program("pg_recvlogical") else {
        return Ok(None);
    };
    let slot = "recvlogical";
    prepared
        .client
        .query(
            "select pg_catalog.pg_copy_logical_replication_slot('backlog', $1)",
            &[&slot],
        )
        .await?;
    let mut child = Command::new(program)
        .arg("--dbname")
        .arg(arena.source.conninfo(&prepared.database))
        .args([
            "--slot",
            slot,
            "--start",
            "--no-loop",
            "--file",
            "/dev/null",
        ])
        .args(["--option", "proto_version=1"])
        .args(["--option", "publication_names=shop"])
        .args(["--endpos", &prepared.end_lsn])
        .args(["--fsync-interval", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Failure::Unanswerable(format!("pg_recvlogical: {error}")))?;
    let spawned = Instant::now();
    let mut started: Option<f64> = None;
    let status = loop {
        if started.is_none() {
            started = prepared
                .client
                .query_opt(
                    "select extract(epoch from a.backend_start)::float8 \
                     from pg_catalog.pg_replication_slots s \
                     join pg_catalog.pg_stat_activity a on a.pid = s.active_pid where s.slot_name = $1",
                    &[&slot],
                )
                .await?
                .map(|row| row.get(0));
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64();
    let seconds = started.map_or_else(|| spawned.elapsed().as_secs_f64(), |start| now - start);
    prepared
        .client
        .query("select pg_catalog.pg_drop_replication_slot($1)", &[&slot])
        .await?;
    if !status.success() {
        return Err(Failure::Failed(format!("pg_recvlogical: {status}")));
    }
    Ok(Some(f64::from(prepared.workload.rows()) / seconds))
}
