//! How the slot comes to be: in a transaction that uses the slot's own snapshot, so that which tables were empty is
//! known exactly at the point where the stream starts.
//!
//! Creation waits for every transaction that writes at the moment, which can take hours. Source: PostgreSQL
//! documentation, "Streaming Replication Protocol", CREATE_REPLICATION_SLOT.

use super::{ask, run, while_doing};
use crate::connect::{ConnectOptions, Replication, sql};
use crate::error::{Error, Site};
use crate::ident::{QualifiedName, SlotName};
use crate::position::{EndLsn, Lsn};
use crate::reason::Reason;
use crate::source::{Session, Slot, SlotProvenance};

use tokio_util::sync::CancellationToken;

const DOING: &str = "creating the slot";
/// Tables asked about in one statement.
const TABLES_PER_STATEMENT: usize = 100;

/// Creates the slot and looks which published tables are empty at its consistent point. `None` when `stop` came first.
///
/// # Errors
/// `slots_exhausted`, `privilege_missing`; what the server reports.
///
/// # Cancel safety
/// Dropping the future closes the connection, but a server that waits for a transaction may notice only when that
/// ends and leave the slot behind. Use `stop` instead: it cancels the command on the server.
pub(crate) async fn create_slot(
    replication: &mut Replication,
    connect: &ConnectOptions,
    session: &Session,
    stop: &CancellationToken,
) -> Result<Option<Slot>, Error> {
    let failed = while_doing(DOING);
    let pid_answer = ask(
        replication,
        "select pg_catalog.pg_backend_pid() as pid",
        DOING,
    )
    .await?;
    let pid: i32 = pid_answer
        .only()
        .and_then(|row| row.required("pid"))
        .map_err(&failed)?;
    // Refused inside a transaction that reads anything first; the snapshot must be the transaction's first.
    run(
        replication,
        "begin isolation level repeatable read read only",
        DOING,
    )
    .await?;
    let command = create_command(session.server.version_num, &session.slot);
    let created = {
        let creating = ask(replication, &command, DOING);
        tokio::pin!(creating);
        tokio::select! {
            created = &mut creating => created,
            () = stop.cancelled() => {
                cancel(connect, pid).await;
                drop(creating.await);
                return Ok(None);
            }
        }
    };
    let created = created.map_err(creation_error)?;
    let origin: Lsn = created
        .only()
        .and_then(|row| row.required("consistent_point"))
        .map_err(&failed)?;
    let empty_tables = empty_tables(replication, session).await?;
    run(replication, "commit", DOING).await?;
    Ok(Some(Slot {
        name: session.slot.clone(),
        origin: EndLsn::new(origin),
        provenance: SlotProvenance::Created { empty_tables },
    }))
}

fn create_command(version_num: u32, slot: &SlotName) -> String {
    let snapshot = if version_num >= 150_000 {
        "(SNAPSHOT 'use')"
    } else {
        "USE_SNAPSHOT"
    };
    format!("CREATE_REPLICATION_SLOT \"{slot}\" LOGICAL pgoutput {snapshot}")
}

fn creation_error(error: Error) -> Error {
    let state = error.site.sqlstate;
    match state.as_ref().map(|state| state.as_str()) {
        Some("53400") => Error::new(Reason::SlotsExhausted, error.site),
        _ => error,
    }
}

/// Which published tables hold no row. A table that we may not read, or read only in part, is not claimed empty.
async fn empty_tables(
    replication: &mut Replication,
    session: &Session,
) -> Result<Vec<QualifiedName>, Error> {
    let failed = while_doing("looking for empty tables");
    let mut empty = Vec::new();
    let readable: Vec<_> = session
        .tables
        .iter()
        .filter(|table| table.selectable)
        .collect();
    for tables in readable.chunks(TABLES_PER_STATEMENT) {
        let security: Vec<String> = tables
            .iter()
            .map(|table| format!("select {} as oid", table.oid))
            .collect();
        let sql = format!(
            "select t.oid from ({}) t where pg_catalog.row_security_active(t.oid::pg_catalog.oid)",
            security.join(" union all ")
        );
        let hidden = ask(replication, &sql, DOING).await?;
        let hidden = hidden
            .rows()
            .map(|row| row.required::<u32>("oid"))
            .collect::<Result<Vec<_>, _>>()
            .map_err(&failed)?;
        let open: Vec<_> = tables
            .iter()
            .filter(|table| !hidden.contains(&table.oid))
            .collect();
        if open.is_empty() {
            continue;
        }
        let emptiness: Vec<String> = open
            .iter()
            .map(|table| {
                format!(
                    "select {} as oid where not exists (select from {})",
                    table.oid,
                    table.name.quoted()
                )
            })
            .collect();
        let answer = ask(replication, &emptiness.join(" union all "), DOING).await?;
        for row in answer.rows() {
            let oid: u32 = row.required("oid").map_err(&failed)?;
            empty.extend(
                open.iter()
                    .filter(|table| table.oid == oid)
                    .map(|table| table.name.clone()),
            );
        }
    }
    empty.sort();
    Ok(empty)
}

/// Best effort: the session is given up anyway.
async fn cancel(connect: &ConnectOptions, pid: i32) {
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
    let asked = tokio::time::timeout(PATIENCE, async {
        let session = sql(connect).await?;
        let cancelled = session
            .client
            .execute("select pg_catalog.pg_cancel_backend($1)", &[&pid])
            .await;
        cancelled.map_err(|error| Error::from(crate::connect::classify(&error)))
    });
    if !matches!(asked.await, Ok(Ok(_))) {
        let site = Site::none().fact("the server may still create the slot");
        tracing::warn!(reason = %Reason::SourceUnreachable, place = %site, "cancelling slot creation failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_follows_the_release() {
        let slot = SlotName::new("s_1").unwrap();
        assert_eq!(
            create_command(140_023, &slot),
            "CREATE_REPLICATION_SLOT \"s_1\" LOGICAL pgoutput USE_SNAPSHOT"
        );
        assert_eq!(
            create_command(150_000, &slot),
            "CREATE_REPLICATION_SLOT \"s_1\" LOGICAL pgoutput (SNAPSHOT 'use')"
        );
    }
}
