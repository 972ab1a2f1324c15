//! How streaming starts, and what a refusal of the stream means.

use super::while_doing;
use crate::connect::{CopyBoth, Replication};
use crate::error::Error;
use crate::ident::Ident;
use crate::position::EndLsn;
use crate::reason::Reason;
use crate::sink::ValueFormat;
use crate::source::Session;

/// The first release that sends binary values.
const BINARY_RELEASE: u32 = 140_000;

/// Enters copy-both mode at `start`.
///
/// # Errors
/// `slot_active`, `slot_missing`, `slot_invalidated`, `publication_missing`; what the server reports.
///
/// # Cancel safety
/// Safe: dropping the future closes the connection.
pub(crate) async fn start_replication(
    replication: Replication,
    session: &Session,
    start: EndLsn,
    format: ValueFormat,
) -> Result<CopyBoth, Error> {
    let names: Vec<&Ident> = session
        .publications
        .iter()
        .map(|found| &found.name)
        .collect();
    let command = start_command(session, &names, start, format);
    let started = replication.start_streaming(&command).await;
    started
        .map_err(while_doing("starting the stream"))
        .map_err(start_error)
}

/// The slot was there a moment ago; an object that is missing now is the slot.
fn start_error(error: Error) -> Error {
    let state = error.site.sqlstate;
    match state.as_ref().map(|state| state.as_str()) {
        Some("42704") => Error::new(Reason::SlotMissing, error.site),
        _ => stream_error(error),
    }
}

/// What an error of the server means while it decodes for us.
pub(crate) fn stream_error(error: Error) -> Error {
    let state = error.site.sqlstate;
    let reason = match state.as_ref().map(|state| state.as_str()) {
        Some("55006") => Reason::SlotActive,
        // A publication that did not exist at the decoded location, or does not exist any more.
        Some("42704") => Reason::PublicationMissing,
        Some("0A000") => Reason::PublicationColumnListsDiffer,
        // WAL that is gone, or a slot that was invalidated.
        Some("58P01" | "55000") => Reason::SlotInvalidated,
        Some("53400") => Reason::SlotsExhausted,
        _ => error.reason,
    };
    Error::new(reason, error.site)
}

fn start_command(
    session: &Session,
    publications: &[&Ident],
    start: EndLsn,
    format: ValueFormat,
) -> String {
    let names: Vec<String> = publications
        .iter()
        .map(|name| name.quoted().to_string())
        .collect();
    // The replication grammar knows only plain literals, in which a backslash is a backslash.
    let names = names.join(",").replace('\'', "''");
    let binary = match format {
        ValueFormat::Binary if session.server.version_num >= BINARY_RELEASE => ", binary 'true'",
        ValueFormat::Binary | ValueFormat::Text => "",
    };
    format!(
        "START_REPLICATION SLOT \"{}\" LOGICAL {start} \
         (proto_version '1', publication_names '{names}'{binary})",
        session.slot
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ident::SlotName;
    use crate::position::{Lsn, WalEnd};
    use crate::source::{Server, SourceIdentity, SystemIdentifier};

    fn command(version_num: u32, format: ValueFormat) -> String {
        let session = Session {
            identity: SourceIdentity {
                system: SystemIdentifier::new(1),
                database: "shop".to_owned(),
                timeline: 1,
                wal_end: WalEnd::new(Lsn::new(1)),
            },
            server: Server {
                version_num,
                in_recovery: false,
            },
            slot: SlotName::new("shop").unwrap(),
            publications: Vec::new(),
            tables: Vec::new(),
        };
        let names = [Ident::new("It's, \"x\"").unwrap(), Ident::new("b").unwrap()];
        let names: Vec<&Ident> = names.iter().collect();
        start_command(
            &session,
            &names,
            EndLsn::new(Lsn::new(0x1_0000_00AB)),
            format,
        )
    }

    #[test]
    fn names_are_quoted_twice_and_binary_follows_the_release() {
        assert_eq!(
            command(150_018, ValueFormat::Binary),
            "START_REPLICATION SLOT \"shop\" LOGICAL 1/AB (proto_version '1', \
             publication_names '\"It''s, \"\"x\"\"\",\"b\"', binary 'true')"
        );
        assert!(!command(130_000, ValueFormat::Binary).contains("binary"));
        assert!(!command(150_018, ValueFormat::Text).contains("binary"));
    }
}
