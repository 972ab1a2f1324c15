//! Does anybody run the pipeline, and if not, how did the last owner end?

use replicant_checkpoint::store::{Lease, LeaseLock, LeaseState};

use super::finding::Finding;
use super::report::{Check, Verdict};

const DOMAIN: &str = "runtime";

/// Is the lease held, and does a connection of its owner exist?
pub(super) fn lease(lease: Option<&Lease>, lock: LeaseLock) -> Check {
    const NAME: &str = "lease";
    let Some(lease) = lease.filter(|lease| lease.owner.is_some()) else {
        return Check::finding(NAME, DOMAIN, Finding::LeaseAbsent);
    };
    let check = match lease.state {
        // Between two heartbeats a connection may be missing, of an owner that reconnects or one that is gone.
        LeaseState::Live if lock == LeaseLock::Free => {
            Check::finding(NAME, DOMAIN, Finding::LeaseUnattended)
        }
        LeaseState::Live => Check::pass_as(NAME, DOMAIN, Finding::LeaseLive),
        LeaseState::Released => Check::finding(NAME, DOMAIN, Finding::LeaseReleased),
        LeaseState::Expired => Check::finding(NAME, DOMAIN, Finding::LeaseExpired),
    };
    let age = lease.heartbeat_age;
    check.noting(age.map(|age| format!("last heartbeat {} s ago", age.as_secs())))
}

/// Did the last owner halt?
pub(super) fn last_halt(lease: Option<&Lease>) -> Check {
    const NAME: &str = "last_halt";
    match lease.and_then(|lease| lease.tombstone.as_ref()) {
        None => Check::pass(NAME, DOMAIN),
        Some(buried) => {
            let (reason, help) = known(&buried.cause).unwrap_or((
                Finding::TombstoneUnknown.code(),
                Finding::TombstoneUnknown.help(),
            ));
            Check {
                name: NAME,
                domain: DOMAIN,
                status: Verdict::Fail,
                reason,
                detail: Some(format!("at {}; {help}", buried.at)),
            }
        }
    }
}

/// The stored code as one of ours, so that nothing else is ever printed.
fn known(code: &str) -> Option<(&'static str, &'static str)> {
    let sink = crate::Reason::ALL.iter().map(|r| (r.code(), r.help()));
    let stored = replicant_checkpoint::Reason::ALL
        .iter()
        .map(|r| (r.code(), r.help()));
    let source = replicant_transport::reason::Reason::ALL
        .iter()
        .map(|r| (r.code(), r.help()));
    sink.chain(stored)
        .chain(source)
        .find(|(known, _)| *known == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::Verdict;

    #[test]
    fn a_live_lease_without_a_connection_is_no_pass() {
        let live = Lease {
            owner: Some("shop-1#0123456789abcdef".to_owned()),
            state: LeaseState::Live,
            ..Lease::absent()
        };
        let judged = |lock| lease(Some(&live), lock);
        assert_eq!(judged(LeaseLock::Elsewhere).status, Verdict::Pass);
        let unattended = judged(LeaseLock::Free);
        assert_eq!(unattended.reason, "lease_unattended");
        assert_ne!(unattended.status, Verdict::Pass);
        let released = Lease {
            state: LeaseState::Released,
            ..live.clone()
        };
        let released = lease(Some(&released), LeaseLock::Free);
        assert_eq!(released.reason, "lease_released");
    }

    #[test]
    fn a_reason_is_printed_only_when_it_is_one_of_ours() {
        assert_eq!(
            known("truncate_halt").map(|(code, _)| code),
            Some("truncate_halt")
        );
        assert_eq!(
            known("slot_missing").map(|(code, _)| code),
            Some("slot_missing")
        );
        assert_eq!(
            known("lease_lost").map(|(code, _)| code),
            Some("lease_lost")
        );
        assert_eq!(known("select 1"), None);
    }
}
