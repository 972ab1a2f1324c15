//! Is the slot there, can it be read, and does it still have everything the destination lacks?

use replicant_checkpoint::reason::Reason as Stored;
use replicant_transport::error::Site;
use replicant_transport::pipeline::{Reader, Retention, SlotState};
use replicant_transport::position::EndLsn;
use replicant_transport::reason::Reason as Source;

use super::finding::Finding;
use super::report::Check;
use crate::error::Error;

const DOMAIN: &str = "slot";

/// What is known about the position that the destination has acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Acked {
    /// The checkpoint was not asked.
    NotAsked,
    /// There is none: the first start may create the slot.
    Never,
    /// Up to here.
    UpTo(EndLsn),
}

/// The slot itself.
pub(super) fn presence(slot: Option<&SlotState>, acked: Acked) -> Check {
    const NAME: &str = "slot_presence";
    match (slot, acked) {
        (None, Acked::UpTo(_)) => Check::fail(NAME, DOMAIN, &missing()),
        (None, Acked::Never) => Check::finding(NAME, DOMAIN, Finding::SlotAbsent),
        // May it start? It may: the start creates it.
        (None, Acked::NotAsked) => Check::pass_as(NAME, DOMAIN, Finding::SlotAbsent),
        (Some(slot), _) => match &slot.origin {
            Err(error) => Check::fail(NAME, DOMAIN, &Error::from(error.clone())),
            Ok(_) => Check::pass_as(
                NAME,
                DOMAIN,
                match slot.reader {
                    Reader::Active => Finding::SlotInUse,
                    Reader::None => Finding::SlotIdle,
                },
            ),
        },
    }
}

/// The WAL it needs.
pub(super) fn retention(slot: Option<&SlotState>, acked: Acked) -> Check {
    const NAME: &str = "slot_retention";
    let Some(slot) = slot else {
        return match acked {
            Acked::UpTo(_) => Check::lost(NAME, DOMAIN, Finding::RetentionLost),
            Acked::Never | Acked::NotAsked => {
                Check::skipped(NAME, DOMAIN, Finding::SlotAbsent.code())
            }
        };
    };
    let exhausted = slot.safe_bytes.is_some_and(|bytes| bytes <= 0);
    let check = match slot.retention {
        Retention::Lost => Check::lost(NAME, DOMAIN, Finding::RetentionLost),
        Retention::Unreserved => Check::finding(NAME, DOMAIN, Finding::RetentionAtRisk),
        _ if exhausted => Check::finding(NAME, DOMAIN, Finding::RetentionAtRisk),
        Retention::Reserved => Check::pass_as(NAME, DOMAIN, Finding::RetentionReserved),
        Retention::Extended => Check::pass_as(NAME, DOMAIN, Finding::RetentionExtended),
        Retention::Unknown => Check::finding(NAME, DOMAIN, Finding::RetentionUnknown),
    };
    check.noting(amounts(slot))
}

/// The slot's position against what the destination made durable.
pub(super) fn position(slot: Option<&SlotState>, acked: Acked) -> Check {
    const NAME: &str = "slot_position";
    let skipped = |finding: Finding| Check::skipped(NAME, DOMAIN, finding.code());
    match (slot.map(|slot| &slot.origin), acked) {
        (None, _) => skipped(Finding::SlotAbsent),
        (Some(Err(error)), _) => Check::skipped(NAME, DOMAIN, error.reason.code()),
        (_, Acked::NotAsked) => skipped(Finding::CheckpointAbsent),
        (_, Acked::Never) => skipped(Finding::CheckpointUnpositioned),
        (Some(Ok(origin)), Acked::UpTo(acked)) if *origin > acked => {
            let error = replicant_checkpoint::Error::from(Stored::DestinationBehindSlot);
            Check::fail(NAME, DOMAIN, &error.into())
        }
        (Some(Ok(_)), Acked::UpTo(_)) => Check::pass(NAME, DOMAIN),
    }
}

fn missing() -> Error {
    replicant_transport::error::Error::new(Source::SlotMissing, Site::none()).into()
}

fn amounts(slot: &SlotState) -> Option<String> {
    let retained = slot.retained_bytes?;
    Some(match slot.safe_bytes {
        Some(safe) => format!("{retained} bytes of WAL retained, {safe} until it is at risk"),
        None => format!("{retained} bytes of WAL retained"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;
    use replicant_transport::position::Lsn;

    fn at(lsn: u64) -> EndLsn {
        EndLsn::new(Lsn::new(lsn))
    }

    fn slot(retention: Retention, safe_bytes: Option<i64>) -> SlotState {
        SlotState {
            origin: Ok(at(100)),
            reader: Reader::None,
            retention,
            retained_bytes: Some(5),
            safe_bytes,
        }
    }

    #[test]
    fn retention_is_judged_before_it_is_lost() {
        for (retention_word, safe, status, reason) in [
            (
                Retention::Reserved,
                None,
                Verdict::Pass,
                "retention_reserved",
            ),
            (
                Retention::Extended,
                Some(9),
                Verdict::Pass,
                "retention_extended",
            ),
            (
                Retention::Extended,
                Some(0),
                Verdict::Warn,
                "retention_at_risk",
            ),
            (
                Retention::Reserved,
                Some(-1),
                Verdict::Warn,
                "retention_at_risk",
            ),
            (
                Retention::Unreserved,
                Some(9),
                Verdict::Warn,
                "retention_at_risk",
            ),
            (Retention::Unknown, None, Verdict::Warn, "retention_unknown"),
            (Retention::Lost, None, Verdict::Fail, "retention_lost"),
        ] {
            let check = retention(Some(&slot(retention_word, safe)), Acked::Never);
            assert_eq!((check.status, check.reason), (status, reason));
        }
    }

    #[test]
    fn a_missing_slot_is_nothing_new_only_before_the_first_start() {
        let verdicts = |acked| {
            [
                presence(None, acked).status,
                retention(None, acked).status,
                position(None, acked).status,
            ]
        };
        use Verdict::{Fail, Pass, Skipped, Warn};
        assert_eq!(verdicts(Acked::NotAsked), [Pass, Skipped, Skipped]);
        assert_eq!(verdicts(Acked::Never), [Warn, Skipped, Skipped]);
        assert_eq!(verdicts(Acked::UpTo(at(1))), [Fail, Fail, Skipped]);
    }

    #[test]
    fn a_slot_beyond_the_destination_has_forgotten_something() {
        let slot = slot(Retention::Reserved, None);
        let check = |acked| position(Some(&slot), Acked::UpTo(at(acked)));
        assert_eq!(check(100).status, Verdict::Pass);
        assert_eq!(check(101).status, Verdict::Pass);
        let behind = check(99);
        assert_eq!(
            (behind.status, behind.reason),
            (Verdict::Fail, "destination_behind_slot")
        );
    }
}
