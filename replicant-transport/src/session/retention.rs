//! Who reads the slot, how much WAL does it hold back, and for how long will the server keep it?
//!
//! Asked from outside, beside whatever pipeline runs. Source: PostgreSQL documentation, view `pg_replication_slots`.

use super::{Found, ask, inspect_slot, server, while_doing};
use crate::connect::{ConnectOptions, Replication, Row};
use crate::error::Error;
use crate::ident::{Literal, SlotName};
use crate::position::{EndLsn, WalEnd};
use crate::reason::Reason;
use crate::source::{ExpectedSource, Session, SourceIdentity};

const DOING: &str = "reading the slot's retention";

/// The source and the slot, as anybody may see them while a pipeline runs.
#[derive(Clone, Debug)]
pub struct SlotReport {
    /// Who answered, and how far its WAL reaches.
    pub identity: SourceIdentity,
    /// The slot; `None` when there is none of that name.
    pub slot: Option<SlotState>,
}

/// One slot.
#[derive(Clone, Debug)]
pub struct SlotState {
    /// Where a stream could start (`confirmed_flush_lsn`), or why the slot cannot be used.
    pub origin: Result<EndLsn, Error>,
    /// Does a walsender read it now?
    pub reader: Reader,
    /// How safe the WAL it needs is.
    pub retention: Retention,
    /// Bytes of WAL from its restart position to the end.
    pub retained_bytes: Option<u64>,
    /// Bytes that may still be written before its WAL is at risk; `None` without a limit, before PostgreSQL 13, and
    /// for a slot that is lost.
    pub safe_bytes: Option<i64>,
}

/// Does a walsender read a slot?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// Yes.
    Active,
    /// No.
    None,
}

/// How safe the WAL of a slot is (`wal_status`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retention {
    /// Within `max_wal_size`, or a release that never removes it.
    Reserved,
    /// Beyond `max_wal_size`, and kept.
    Extended,
    /// No longer kept: the next checkpoint may remove it.
    Unreserved,
    /// Removed.
    Lost,
    /// The server did not say, or said a word unknown here.
    Unknown,
}

/// Asks about source and slot. Creates nothing and reads no publication.
///
/// # Errors
/// Whatever [`Replication`] reports while connecting; `source_identity_mismatch`, `source_release_unsupported`,
/// `wal_level_not_logical`, `standby_unsupported`. A slot that cannot be used is no error: the report says so.
///
/// # Cancel safety
/// Safe: dropping the future closes the connection.
pub async fn probe_slot(
    connect: &ConnectOptions,
    slot: &SlotName,
    expected: Option<&ExpectedSource>,
) -> Result<SlotReport, Error> {
    let mut replication = Replication::open(connect).await?;
    let identity = server::identify(&mut replication).await?;
    super::expect(&identity, expected)?;
    let facts = server::read_facts(&mut replication).await?;
    let session = Session {
        identity,
        server: facts.server,
        slot: slot.clone(),
        publications: Vec::new(),
        tables: Vec::new(),
    };
    let origin = match inspect_slot(&mut replication, &session).await {
        Ok(Found::Absent) => None,
        Ok(Found::Usable { origin }) => Some(Ok(origin)),
        Err(error) if is_about_the_slot(error.reason) => Some(Err(error)),
        Err(error) => return Err(error),
    };
    let state = match origin {
        None => None,
        Some(origin) => state(&mut replication, &session, origin).await?,
    };
    Ok(SlotReport {
        identity: session.identity,
        slot: state,
    })
}

fn is_about_the_slot(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::SlotNotLogical
            | Reason::SlotPluginMismatch
            | Reason::SlotDatabaseMismatch
            | Reason::SlotTemporary
            | Reason::SlotTwoPhase
            | Reason::SlotSynced
            | Reason::SlotInvalidated
            | Reason::SlotOriginUnavailable
    )
}

/// `None` when it was dropped in between.
async fn state(
    replication: &mut Replication,
    session: &Session,
    origin: Result<EndLsn, Error>,
) -> Result<Option<SlotState>, Error> {
    let sql = sql(session.server.version_num, &session.slot);
    let answer = ask(replication, &sql, DOING).await?;
    if answer.is_empty() {
        return Ok(None);
    }
    let row = answer.only().map_err(while_doing_it)?;
    read(&row, session.identity.wal_end, origin)
        .map(Some)
        .map_err(while_doing_it)
}

fn while_doing_it(fault: impl Into<crate::connect::QueryError>) -> Error {
    while_doing(DOING)(fault.into())
}

fn sql(version_num: u32, slot: &SlotName) -> String {
    let since_13 = |column: &'static str, otherwise: &'static str| {
        if version_num >= 130_000 {
            format!("s.{column}")
        } else {
            format!("{otherwise} as {column}")
        }
    };
    format!(
        "select s.active, s.restart_lsn, {}, {} \
         from pg_catalog.pg_replication_slots s where s.slot_name = {}",
        since_13("wal_status", "'reserved'"),
        since_13("safe_wal_size", "null"),
        Literal(slot.as_str()),
    )
}

fn read(
    row: &Row<'_>,
    wal_end: WalEnd,
    origin: Result<EndLsn, Error>,
) -> Result<SlotState, crate::connect::QueryError> {
    let restart: Option<crate::position::Lsn> = row.optional("restart_lsn")?;
    Ok(SlotState {
        origin,
        reader: if row.flag("active")? {
            Reader::Active
        } else {
            Reader::None
        },
        retention: match row.text("wal_status")? {
            Some("reserved") => Retention::Reserved,
            Some("extended") => Retention::Extended,
            Some("unreserved") => Retention::Unreserved,
            Some("lost") => Retention::Lost,
            _ => Retention::Unknown,
        },
        retained_bytes: restart.map(|at| wal_end.lsn().value().saturating_sub(at.value())),
        safe_bytes: row.optional("safe_wal_size")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_without_retention_limits_is_not_asked_for_them() {
        let slot = SlotName::new("s").unwrap();
        assert!(!sql(120_022, &slot).contains("s.wal_status"));
        assert!(sql(130_000, &slot).contains("s.wal_status"));
        assert!(sql(130_000, &slot).contains("s.safe_wal_size"));
    }
}
