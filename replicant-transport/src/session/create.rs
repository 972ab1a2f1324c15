//! How the slot comes to be: in a transaction that uses the slot's own snapshot, so that which tables were empty is
//! known exactly at the point where the stream starts.
//!
//! Creation waits for every transaction that writes at the moment, which can take hours. Source: PostgreSQL
//! documentation, "Streaming Replication Protocol", CREATE_REPLICATION_SLOT.

use std::collections::HashSet;

use super::{ask, run, while_doing};
use crate::connect::{ConnectOptions, Replication, RowSet, sql};
use crate::error::{Error, Site};
use crate::ident::{Literal, QualifiedName, SlotName};
use crate::position::{EndLsn, Lsn};
use crate::reason::Reason;
use crate::source::{Session, Slot, SlotProvenance, SourceTable, TableKind};

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

/// Which published tables held no row at the consistent point. A table that we may not read, or read only in part, or
/// that was emptied or rewritten since, is not claimed empty.
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
            .copied()
            .collect();
        if open.is_empty() {
            continue;
        }
        let emptiness: Vec<String> = open.iter().map(|table| emptiness_sql(table)).collect();
        let without_rows = ask(replication, &emptiness.join(" union all "), DOING).await?;
        // Asked last: the locks taken by reading are held until the transaction ends, so nothing changes after it.
        let untouched = ask(replication, &untouched_sql(&open), DOING).await?;
        let oids = |answer: &RowSet| {
            let oids = answer.rows().map(|row| row.required::<u32>("oid"));
            oids.collect::<Result<HashSet<_>, _>>().map_err(&failed)
        };
        let (without_rows, untouched) = (oids(&without_rows)?, oids(&untouched)?);
        empty.extend(
            open.iter()
                .filter(|table| without_rows.contains(&table.oid) && untouched.contains(&table.oid))
                .map(|table| table.name.clone()),
        );
    }
    empty.sort();
    Ok(empty)
}

/// A row when the table has none. Tables that inherit from an ordinary one are published under their own names.
fn emptiness_sql(table: &SourceTable) -> String {
    let scope = match table.kind {
        TableKind::Partitioned => "",
        TableKind::Table | TableKind::Other => "only ",
    };
    let (oid, name) = (table.oid, table.name.quoted());
    format!("select {oid} as oid where not exists (select from {scope}{name})")
}

/// The tables that are stored in the files that held them at the consistent point, under the names that were read.
///
/// TRUNCATE and a rewriting ALTER TABLE put a new file in place that looks empty to every older snapshot. The
/// catalog's rows are read with the slot's snapshot, the functions look at the present. Source: PostgreSQL
/// documentation, "Caveats" of the chapter on MVCC.
fn untouched_sql(tables: &[&SourceTable]) -> String {
    let named: Vec<String> = tables
        .iter()
        .map(|table| {
            let name = table.name.quoted().to_string();
            format!(
                "({}::pg_catalog.oid, {}::pg_catalog.text)",
                table.oid,
                Literal(&name)
            )
        })
        .collect();
    format!(
        "with recursive named(oid, name) as (values {}), tree(root, oid) as (\
         select c.oid, c.oid from pg_catalog.pg_class c join named on named.oid = c.oid \
         where pg_catalog.to_regclass(named.name) = c.oid \
         union all select tree.root, i.inhrelid from tree \
         join pg_catalog.pg_class p on p.oid = tree.oid and p.relkind = 'p' \
         join pg_catalog.pg_inherits i on i.inhparent = tree.oid) \
         select tree.root as oid from tree join pg_catalog.pg_class c on c.oid = tree.oid \
         group by tree.root having pg_catalog.bool_and(\
         (c.relfilenode = 0 or c.relfilenode is not distinct from pg_catalog.pg_relation_filenode(c.oid)) \
         and (tree.oid = tree.root or tree.oid in \
         (select p.relid::pg_catalog.oid from pg_catalog.pg_partition_tree(tree.root) p)))",
        named.join(", ")
    )
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
