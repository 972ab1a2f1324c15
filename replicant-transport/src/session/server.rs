//! Who answers, and is it a server we can stream from?
//!
//! Source: PostgreSQL documentation, "Streaming Replication Protocol", IDENTIFY_SYSTEM.

use std::time::Duration;

use super::{ask, unexpected, while_doing};
use crate::connect::Replication;
use crate::error::{Error, Site};
use crate::position::WalEnd;
use crate::reason::Reason;
use crate::source::{Server, SourceIdentity, SystemIdentifier};

/// The oldest release whose stream and catalogs are known here.
const RELEASE_MIN: u32 = 120_000;
/// The first release that decodes on a standby.
const STANDBY_RELEASE_MIN: u32 = 160_000;

/// The server, and what only the pipeline needs to know about it.
pub(super) struct Facts {
    pub(super) server: Server,
    pub(super) wal_sender_timeout: Option<Duration>,
}

/// The first command of every connection.
pub(super) async fn identify(replication: &mut Replication) -> Result<SourceIdentity, Error> {
    const DOING: &str = "identifying the source";
    let failed = while_doing(DOING);
    let answer = ask(replication, "IDENTIFY_SYSTEM", DOING).await?;
    let row = answer.only().map_err(&failed)?;
    Ok(SourceIdentity {
        system: SystemIdentifier::new(row.required("systemid").map_err(&failed)?),
        database: row
            .text("dbname")
            .map_err(&failed)?
            .ok_or_else(|| unexpected(DOING))?
            .to_owned(),
        timeline: row.required("timeline").map_err(&failed)?,
        wal_end: WalEnd::new(row.required("xlogpos").map_err(&failed)?),
    })
}

/// Version, WAL level and recovery, refused when logical decoding cannot work.
pub(super) async fn read_facts(replication: &mut Replication) -> Result<Facts, Error> {
    const DOING: &str = "reading server settings";
    let failed = while_doing(DOING);
    let sql = "select pg_catalog.current_setting('server_version_num') as version_num, \
               pg_catalog.current_setting('wal_level') as wal_level, \
               pg_catalog.pg_is_in_recovery() as in_recovery, \
               (select s.setting from pg_catalog.pg_settings s \
                where s.name = 'wal_sender_timeout') as wal_sender_timeout_ms";
    let answer = ask(replication, sql, DOING).await?;
    let row = answer.only().map_err(&failed)?;
    let server = Server {
        version_num: row.required("version_num").map_err(&failed)?,
        in_recovery: row.flag("in_recovery").map_err(&failed)?,
    };
    check(&server, row.text("wal_level").map_err(&failed)?)?;
    let timeout: u64 = row.required("wal_sender_timeout_ms").map_err(&failed)?;
    Ok(Facts {
        server,
        wal_sender_timeout: (timeout > 0).then(|| Duration::from_millis(timeout)),
    })
}

fn check(server: &Server, wal_level: Option<&str>) -> Result<(), Error> {
    if server.version_num < RELEASE_MIN {
        let fact = format!("server_version_num {}", server.version_num);
        return Err(Error::new(
            Reason::SourceReleaseUnsupported,
            Site::none().fact(fact),
        ));
    }
    if wal_level != Some("logical") {
        return Err(Reason::WalLevelNotLogical.into());
    }
    if server.in_recovery && server.version_num < STANDBY_RELEASE_MIN {
        return Err(Reason::StandbyUnsupported.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_decode_is_refused_by_name() {
        let server = |version_num, in_recovery| Server {
            version_num,
            in_recovery,
        };
        let reason = |server, level| check(&server, level).map_err(|error| error.reason);
        assert_eq!(reason(server(120_000, false), Some("logical")), Ok(()));
        assert_eq!(reason(server(160_000, true), Some("logical")), Ok(()));
        assert_eq!(
            reason(server(119_999, false), Some("logical")),
            Err(Reason::SourceReleaseUnsupported)
        );
        assert_eq!(
            reason(server(150_018, false), Some("replica")),
            Err(Reason::WalLevelNotLogical)
        );
        assert_eq!(
            reason(server(150_018, true), Some("logical")),
            Err(Reason::StandbyUnsupported)
        );
    }
}
