//! May this process run the pipeline, or does another one?
//!
//! The answer comes from two things in the destination. The **lock** is held by the connection that renews the lease:
//! who gets it knows that no connection of another owner is left. The **lease** says when the owner last gave a sign of
//! life. A lease that is renewed while somebody watches proves that its owner lives; one that runs out without a sign
//! proves that its owner may be replaced. Nothing is concluded from a lease that merely looks fresh: its owner may
//! have been killed a moment ago, and a restart must not wait for that.

use std::time::Duration;

use replicant_checkpoint::store::{
    CommitWarnings, Key, LEASE_SECONDS, Lease, LeaseLock, LeaseState, Store,
};
use replicant_transport::connect::ConnectOptions;
use tokio::time::Instant;

use super::destination::Destination;
use crate::error::Error;

/// How long a lease lives after it was renewed.
pub(crate) const LEASE: Duration = Duration::from_secs(LEASE_SECONDS);

/// The claim of this process to one slot, and the connection that carries it.
pub(crate) struct Ownership {
    pub(crate) store: Store,
    pub(crate) key: Key,
    /// The name this process goes by.
    pub(crate) owner: String,
    pub(crate) destination: Destination,
    /// Since when somebody else has been watched.
    watching: Option<Instant>,
}

/// What one look told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// The pipeline may be started.
    Mine,
    /// Another owner gave a sign of life while it was watched. The error names it.
    Owned(Error),
    /// Somebody else has the lock and gave no sign yet: look again.
    Unclear,
}

impl Ownership {
    pub(crate) fn new(store: Store, key: Key, owner: String, destination: &ConnectOptions) -> Self {
        // A heartbeat that is lost in a crash was stale anyway, so it waits for no standby.
        let options = destination
            .clone()
            .with_setting("synchronous_commit", "local");
        Self {
            store,
            key,
            owner,
            destination: Destination::new(options, CommitWarnings::default()),
            watching: None,
        }
    }

    /// Takes the lock if nobody has it; watches who has it otherwise.
    ///
    /// # Errors
    /// Destination faults; `checkpoint_format_unknown`.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub(crate) async fn look(&mut self) -> Result<Look, Error> {
        let asked = Instant::now();
        let watched = asked.duration_since(*self.watching.get_or_insert(asked));
        if self.lock().await? == LeaseLock::Ours {
            return Ok(Look::Mine);
        }
        let lease = self.lease().await?;
        let look = judge(lease.as_ref(), watched);
        if matches!(look, Look::Owned(_)) {
            // From here on another sign is waited for.
            self.watching = Some(asked);
        }
        Ok(look)
    }

    /// Who has the lock now, after trying to take it. It is lost with the connection, and taken again with the next.
    pub(crate) async fn lock(&mut self) -> Result<LeaseLock, Error> {
        let session = self.destination.session().await?;
        if session.lock != LeaseLock::Ours {
            session.lock = self
                .store
                .try_lease_lock(session.client(), &self.key)
                .await?;
        }
        Ok(session.lock)
    }

    /// Who had the lock when it was last asked for.
    pub(crate) fn held(&self) -> LeaseLock {
        self.destination.lock()
    }

    /// Gives the lock back, if this session has it.
    pub(crate) async fn unlock(&mut self) -> Result<(), Error> {
        let session = self.destination.session().await?;
        if session.lock == LeaseLock::Ours {
            self.store.lease_unlock(session.client(), &self.key).await?;
            session.lock = LeaseLock::Free;
        }
        Ok(())
    }

    /// The stored lease. `None` before the first start of any process.
    pub(crate) async fn lease(&mut self) -> Result<Option<Lease>, Error> {
        let client = self.destination.session().await?.client();
        match self.store.readable(client).await {
            Err(error) if error.code() == "checkpoint_not_migrated" => return Ok(None),
            readable => readable?,
        }
        Ok(self.store.lease(client, &self.key).await?)
    }
}

/// What the lease of somebody who has the lock means, watched for this long.
fn judge(lease: Option<&Lease>, watched: Duration) -> Look {
    let Some(lease) = lease else {
        return silent(watched);
    };
    match (lease.state, lease.heartbeat_age) {
        // A heartbeat younger than the watch: it came while we watched.
        (LeaseState::Live, Some(age)) if age < watched => Look::Owned(lease.refusal().into()),
        (LeaseState::Live, _) => Look::Unclear,
        (LeaseState::Expired, _) => Look::Mine,
        // It is starting and has not bound yet, or it is ending.
        (LeaseState::Released, _) => silent(watched),
    }
}

/// Who has the lock and no lease is given the time of a lease to bind, or to end.
fn silent(watched: Duration) -> Look {
    match watched > LEASE {
        true => Look::Mine,
        false => Look::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn seen(state: LeaseState, age: Duration, watched: Duration) -> Look {
        let lease = Lease {
            state,
            heartbeat_age: Some(age),
            ..Lease::absent()
        };
        judge(Some(&lease), watched)
    }

    #[test]
    fn only_a_heartbeat_that_came_while_we_watched_says_that_the_owner_lives() {
        assert_eq!(
            seen(LeaseState::Live, SECOND, Duration::ZERO),
            Look::Unclear
        );
        assert_eq!(seen(LeaseState::Live, SECOND, SECOND), Look::Unclear);
        let owned = seen(LeaseState::Live, SECOND, 2 * SECOND);
        assert!(matches!(owned, Look::Owned(error) if error.code() == "slot_owned_elsewhere"));
    }

    #[test]
    fn an_owner_whose_lease_ran_out_is_replaced_at_once() {
        assert_eq!(seen(LeaseState::Expired, LEASE, Duration::ZERO), Look::Mine);
    }

    #[test]
    fn who_has_the_lock_and_no_lease_is_given_the_time_of_one() {
        for watched in [Duration::ZERO, LEASE] {
            assert_eq!(judge(None, watched), Look::Unclear);
            assert_eq!(seen(LeaseState::Released, SECOND, watched), Look::Unclear);
        }
        assert_eq!(judge(None, LEASE + SECOND), Look::Mine);
        assert_eq!(
            seen(LeaseState::Released, SECOND, LEASE + SECOND),
            Look::Mine
        );
    }
}
