//! What the slot is: absent, usable from where, or unusable and why.
//!
//! A slot is never dropped, created again or altered to fit: that would turn a loud gap into silent loss. Source:
//! PostgreSQL documentation, view `pg_replication_slots`.

use super::{ask, while_doing};
use crate::connect::{Replication, Row};
use crate::error::{Error, Site};
use crate::ident::{Literal, SlotName};
use crate::position::{EndLsn, Lsn};
use crate::reason::Reason;
use crate::source::Session;

const DOING: &str = "reading the slot";

/// What was found under the slot's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// Nothing.
    Absent,
    /// A slot of the right kind that can be read from here.
    Usable {
        /// `confirmed_flush_lsn`.
        origin: EndLsn,
    },
}

/// Looks the slot up and checks every fact that would make it another slot than ours or a dead one.
///
/// # Errors
/// `slot_not_logical`, `slot_plugin_mismatch`, `slot_database_mismatch`, `slot_temporary`, `slot_two_phase`,
/// `slot_synced`, `slot_invalidated`, `slot_origin_unavailable`; what the server reports.
pub(crate) async fn inspect_slot(
    replication: &mut Replication,
    session: &Session,
) -> Result<Found, Error> {
    let failed = while_doing(DOING);
    let answer = ask(
        replication,
        &slot_sql(session.server.version_num, &session.slot),
        DOING,
    )
    .await?;
    if answer.is_empty() {
        return Ok(Found::Absent);
    }
    let row = answer.only().map_err(&failed)?;
    let facts = Facts::read(&row).map_err(&failed)?;
    facts.check(session).map(|origin| Found::Usable { origin })
}

fn slot_sql(version_num: u32, slot: &SlotName) -> String {
    let since = |release, column: &'static str, otherwise: &'static str| {
        if version_num >= release {
            format!("s.{column}")
        } else {
            format!("{otherwise} as {column}")
        }
    };
    format!(
        "select s.plugin, s.slot_type, s.database, s.temporary, s.restart_lsn, \
         s.confirmed_flush_lsn, {}, {}, {}, {}, {} \
         from pg_catalog.pg_replication_slots s where s.slot_name = {}",
        since(130_000, "wal_status", "null"),
        since(140_000, "two_phase", "false"),
        since(160_000, "conflicting", "false"),
        since(170_000, "invalidation_reason", "null"),
        since(170_000, "synced", "false"),
        Literal(slot.as_str()),
    )
}

/// One row of `pg_replication_slots`.
#[derive(Clone, Debug)]
struct Facts {
    plugin: Option<String>,
    logical: bool,
    database: Option<String>,
    temporary: bool,
    two_phase: bool,
    synced: bool,
    lost: bool,
    conflicting: bool,
    /// The words are the server's own closed list; any of them, known here or not, means invalid.
    invalidated: bool,
    restart: Option<Lsn>,
    confirmed: Option<Lsn>,
}

impl Facts {
    fn read(row: &Row<'_>) -> Result<Self, crate::connect::QueryError> {
        Ok(Self {
            plugin: row.text("plugin")?.map(str::to_owned),
            logical: row.text("slot_type")? == Some("logical"),
            database: row.text("database")?.map(str::to_owned),
            temporary: row.flag("temporary")?,
            two_phase: row.flag("two_phase")?,
            synced: row.flag("synced")?,
            lost: row.text("wal_status")? == Some("lost"),
            // NULL for a physical slot.
            conflicting: row.text("conflicting")? == Some("t"),
            invalidated: row.text("invalidation_reason")?.is_some(),
            restart: row.optional("restart_lsn")?,
            confirmed: row.optional("confirmed_flush_lsn")?,
        })
    }

    fn check(&self, session: &Session) -> Result<EndLsn, Error> {
        let halt = |reason| Err(Error::from(reason));
        if !self.logical {
            return halt(Reason::SlotNotLogical);
        }
        if self.plugin.as_deref() != Some("pgoutput") {
            return halt(Reason::SlotPluginMismatch);
        }
        if self.database.as_deref() != Some(session.identity.database.as_str()) {
            return halt(Reason::SlotDatabaseMismatch);
        }
        if self.temporary {
            return halt(Reason::SlotTemporary);
        }
        if self.two_phase {
            return halt(Reason::SlotTwoPhase);
        }
        if self.synced && session.server.in_recovery {
            return halt(Reason::SlotSynced);
        }
        if self.lost || self.conflicting || self.invalidated {
            let cause = if self.lost {
                "its WAL was removed"
            } else if self.conflicting {
                "its rows were removed or the WAL level was lowered"
            } else {
                "the server gives an invalidation reason"
            };
            return Err(Error::new(
                Reason::SlotInvalidated,
                Site::none().fact(cause),
            ));
        }
        match (self.restart, self.confirmed) {
            (Some(_), Some(confirmed)) => Ok(EndLsn::new(confirmed)),
            _ => halt(Reason::SlotOriginUnavailable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::WalEnd;
    use crate::source::{Server, SourceIdentity, SystemIdentifier};

    fn session(in_recovery: bool) -> Session {
        Session {
            identity: SourceIdentity {
                system: SystemIdentifier::new(1),
                database: "shop".to_owned(),
                timeline: 1,
                wal_end: WalEnd::new(Lsn::new(1)),
            },
            server: Server {
                version_num: 170_010,
                in_recovery,
            },
            slot: SlotName::new("s").unwrap(),
            publications: Vec::new(),
            tables: Vec::new(),
        }
    }

    fn usable() -> Facts {
        Facts {
            plugin: Some("pgoutput".to_owned()),
            logical: true,
            database: Some("shop".to_owned()),
            temporary: false,
            two_phase: false,
            synced: false,
            lost: false,
            conflicting: false,
            invalidated: false,
            restart: Some(Lsn::new(8)),
            confirmed: Some(Lsn::new(16)),
        }
    }

    #[test]
    fn a_usable_slot_starts_at_its_confirmed_flush() {
        assert_eq!(
            usable().check(&session(false)),
            Ok(EndLsn::new(Lsn::new(16)))
        );
        let synced = Facts {
            synced: true,
            ..usable()
        };
        assert!(synced.check(&session(false)).is_ok());
    }

    #[test]
    fn an_invalidated_slot_says_what_the_server_said_and_guesses_no_cause() {
        let invalid = Facts {
            invalidated: true,
            ..usable()
        };
        let conflicting = Facts {
            conflicting: true,
            ..usable()
        };
        let lost = Facts {
            lost: true,
            ..usable()
        };
        for (facts, cause) in [
            (invalid, "the server gives an invalidation reason"),
            (conflicting, "its rows were removed"),
            (lost, "its WAL was removed"),
        ] {
            let error = facts
                .check(&session(false))
                .map_err(|error| error.site.fact);
            assert!(matches!(error, Err(Some(fact)) if fact.starts_with(cause)));
        }
    }

    #[test]
    fn every_mismatch_has_its_own_reason() {
        let cases = [
            (
                Facts {
                    logical: false,
                    ..usable()
                },
                Reason::SlotNotLogical,
            ),
            (
                Facts {
                    plugin: Some("wal2json".into()),
                    ..usable()
                },
                Reason::SlotPluginMismatch,
            ),
            (
                Facts {
                    database: Some("Shop".into()),
                    ..usable()
                },
                Reason::SlotDatabaseMismatch,
            ),
            (
                Facts {
                    temporary: true,
                    ..usable()
                },
                Reason::SlotTemporary,
            ),
            (
                Facts {
                    two_phase: true,
                    ..usable()
                },
                Reason::SlotTwoPhase,
            ),
            (
                Facts {
                    synced: true,
                    ..usable()
                },
                Reason::SlotSynced,
            ),
            (
                Facts {
                    lost: true,
                    ..usable()
                },
                Reason::SlotInvalidated,
            ),
            (
                Facts {
                    conflicting: true,
                    ..usable()
                },
                Reason::SlotInvalidated,
            ),
            (
                Facts {
                    invalidated: true,
                    restart: None,
                    ..usable()
                },
                Reason::SlotInvalidated,
            ),
            (
                Facts {
                    restart: None,
                    ..usable()
                },
                Reason::SlotOriginUnavailable,
            ),
            (
                Facts {
                    confirmed: None,
                    ..usable()
                },
                Reason::SlotOriginUnavailable,
            ),
        ];
        for (facts, reason) in cases {
            let error = facts.check(&session(true)).unwrap_err();
            assert_eq!(error.reason, reason, "{facts:?}");
        }
    }

    #[test]
    fn a_release_without_a_column_is_not_asked_for_it() {
        let slot = SlotName::new("a_b").unwrap();
        let sql = slot_sql(120_022, &slot);
        for column in [
            "s.wal_status",
            "s.two_phase",
            "s.conflicting",
            "s.invalidation_reason",
        ] {
            assert!(!sql.contains(column), "{column}");
        }
        assert!(slot_sql(170_000, &slot).contains("s.invalidation_reason"));
        assert!(
            sql.ends_with("s.slot_name = E'a_b'"),
            "an equality, not a pattern"
        );
    }
}
