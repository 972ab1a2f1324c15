//! What one connection learns before it streams, and in which order.
//!
//! Every connect repeats the whole chain: `IDENTIFY_SYSTEM`, the expected source, server facts, publications, tables;
//! then the sink binds; then the slot; then `START_REPLICATION`.
//!
//! The stream itself runs on a **second, untouched connection**. A walsender keeps what it reads from the catalog in
//! its caches and then decodes old WAL with it: asked for publications first, PostgreSQL 15 finds a publication that
//! did not exist at the decoded location, decides that it does not contain the table, and drops the change without a
//! word. So the connection that streams runs `IDENTIFY_SYSTEM` and nothing else before `START_REPLICATION`, and has
//! to be the same system, database and timeline as the one that was asked, so that no name lookup, load balancer or
//! failover slips in between.
//!
//! Only the simple query protocol works on a replication connection, so names travel as literals made by
//! [`ident`](crate::ident) and every answer is read by column name.

mod create;
mod publications;
mod retention;
mod server;
mod slot;
mod start;
mod tables;

pub(crate) use create::create_slot;
pub(crate) use publications::{published_tables, read_publications};
pub use retention::{Reader, Retention, SlotReport, SlotState, probe_slot};
pub(crate) use slot::{Found, inspect_slot};
pub(crate) use start::{start_replication, stream_error};

use std::time::Duration;

use crate::connect::{ConnectOptions, QueryError, Replication, RowSet};
use crate::error::{Error, Site};
use crate::ident::{Ident, SlotName};
use crate::reason::Reason;
use crate::source::{ExpectedSource, Session, SourceIdentity};

/// Opens the connection that will stream, which must reach the server that was asked.
///
/// # Errors
/// Whatever [`Replication`] reports while connecting; `source_changed`.
///
/// # Cancel safety
/// Safe: dropping it closes the connection.
pub(crate) async fn reopen(
    connect: &ConnectOptions,
    session: &Session,
) -> Result<Replication, Error> {
    let mut replication = Replication::open_to_stream(connect).await?;
    let identity = server::identify(&mut replication).await?;
    let asked = &session.identity;
    let same = identity.source() == asked.source()
        && identity.timeline == asked.timeline
        && identity.wal_end >= asked.wal_end;
    if same {
        Ok(replication)
    } else {
        let fact = format!(
            "{} on timeline {} was asked, {} on timeline {} answers now",
            asked.source(),
            asked.timeline,
            identity.source(),
            identity.timeline
        );
        Err(Error::new(Reason::SourceChanged, Site::none().fact(fact)))
    }
}

const CATALOG_SNAPSHOT: &str = "begin isolation level repeatable read read only";

/// A connection that has been identified and asked for its facts, and is not streaming yet.
pub(crate) struct Opened {
    pub(crate) replication: Replication,
    pub(crate) session: Session,
    /// After how long without an answer the server drops us; `None` when it never does.
    pub(crate) wal_sender_timeout: Option<Duration>,
}

/// What to look for on the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) slot: &'a SlotName,
    pub(crate) publications: &'a [Ident],
    pub(crate) expected: Option<&'a ExpectedSource>,
}

/// Connects and reads every fact. Creates nothing.
///
/// # Errors
/// Whatever [`Replication`] reports while connecting; `source_identity_mismatch`, `source_release_unsupported`,
/// `wal_level_not_logical`, `standby_unsupported`, `publication_missing`, `publication_column_lists_differ`.
///
/// # Cancel safety
/// Safe: dropping it closes the connection.
pub(crate) async fn open(connect: &ConnectOptions, wanted: Wanted<'_>) -> Result<Opened, Error> {
    let mut replication = Replication::open(connect).await?;
    let identity = server::identify(&mut replication).await?;
    expect(&identity, wanted.expected)?;
    let facts = server::read_facts(&mut replication).await?;
    // One snapshot for all catalog reads, so that they agree with each other.
    run(&mut replication, CATALOG_SNAPSHOT, "reading the catalog").await?;
    let publications = read_publications(
        &mut replication,
        facts.server.version_num,
        wanted.publications,
    )
    .await?;
    let tables = tables::read_tables(
        &mut replication,
        facts.server.version_num,
        wanted.publications,
    )
    .await?;
    run(&mut replication, "commit", "reading the catalog").await?;
    Ok(Opened {
        replication,
        session: Session {
            identity,
            server: facts.server,
            slot: wanted.slot.clone(),
            publications,
            tables,
        },
        wal_sender_timeout: facts.wal_sender_timeout,
    })
}

/// Refuses another source than the expected one.
fn expect(identity: &SourceIdentity, expected: Option<&ExpectedSource>) -> Result<(), Error> {
    match expected {
        Some(expected) if identity.source() != *expected => {
            let fact = format!("expected {expected}, found {}", identity.source());
            Err(Error::new(
                Reason::SourceIdentityMismatch,
                Site::option("source_identity").fact(fact),
            ))
        }
        _ => Ok(()),
    }
}

/// Runs one statement or command and returns its rows.
async fn ask(
    replication: &mut Replication,
    sql: &str,
    doing: &'static str,
) -> Result<RowSet, Error> {
    let sets = replication.simple_query(sql).await;
    let mut sets = sets.map_err(while_doing(doing))?;
    sets.pop().ok_or_else(|| unexpected(doing))
}

/// Runs one statement that returns no rows.
async fn run(replication: &mut Replication, sql: &str, doing: &'static str) -> Result<(), Error> {
    let sets = replication.simple_query(sql).await;
    sets.map(drop).map_err(while_doing(doing))
}

/// Adds what we were doing to a failed command.
fn while_doing(what: &'static str) -> impl Fn(QueryError) -> Error {
    move |fault| {
        let mut error = Error::from(fault);
        error.site = error.site.fact(format!("while {what}"));
        error
    }
}

/// An answer that is not what the catalog's definition allows.
fn unexpected(what: &'static str) -> Error {
    Error::new(
        Reason::ProtocolViolation,
        Site::none().fact(format!("unexpected answer while {what}")),
    )
}

/// A name from the catalog. The server allows control characters in names; nothing of ours carries one.
fn name(text: Option<&str>, what: &'static str) -> Result<Ident, Error> {
    let text = text.ok_or_else(|| unexpected(what))?;
    Ident::new(text).map_err(|not| {
        Error::new(
            Reason::InvalidIdentifier,
            Site::none().fact(format!("while {what}: {not}")),
        )
    })
}
