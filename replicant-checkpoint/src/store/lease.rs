//! Who owns a slot, is that owner alive, and what did it say last?
//!
//! A lease tells people and the next binder that an owner lives. What stops an old owner from writing is the epoch in
//! the watermark row, which every delivery compares under its lock.

use std::time::Duration;

use replicant_transport::reason::Class;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::bind::{Bound, Epoch};
use super::{FENCE, KEY, Key, Store};
use crate::error::Error;
use crate::reason::Reason;

/// How long a lease lives after a heartbeat, by the destination's clock.
pub const LEASE_SECONDS: u64 = 10;

/// The same, as SQL.
pub(super) const LEASE_INTERVAL: &str = "pg_catalog.make_interval(secs => 10)";

/// The columns that [`Lease::read`] expects.
pub(super) const LEASE: &str = "owner, epoch, expires_at > pg_catalog.clock_timestamp(), \
    expires_at = '-infinity', \
    (extract(epoch from pg_catalog.clock_timestamp() - heartbeat_at) * 1000)::pg_catalog.int8, \
    status::pg_catalog.text, terminal_cause, terminal_class, terminal_at::pg_catalog.text, \
    status ->> 'phase', (owned_since at time zone 'UTC')::pg_catalog.text || ' UTC'";

/// The lease row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// Who bound last. `None` when nobody ever did.
    pub owner: Option<String>,
    /// Its last bind, as a number that only grows.
    pub epoch: Epoch,
    /// Since when it owns the slot, by the destination's clock.
    pub since: Option<String>,
    /// Is the owner alive?
    pub state: LeaseState,
    /// How long ago the last heartbeat was, by the destination's clock.
    pub heartbeat_age: Option<Duration>,
    /// What the owner reported last, a JSON text.
    pub status: Option<String>,
    /// The phase it reported in it.
    pub phase: Option<String>,
    /// Why the last owner stopped, when it stopped for good.
    pub tombstone: Option<Buried>,
}

/// Is the owner of a lease alive?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseState {
    /// It renewed the lease recently.
    Live,
    /// It stopped renewing it.
    Expired,
    /// It gave the lease back, or nobody ever took it.
    Released,
}

impl LeaseState {
    /// Stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Expired => "expired",
            Self::Released => "released",
        }
    }
}

/// Why an owner stops for good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tombstone {
    /// Stable code of the reason.
    pub cause: &'static str,
    /// Its class.
    pub class: Class,
}

/// A stored [`Tombstone`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buried {
    /// Stable code of the reason.
    pub cause: String,
    /// Its class, as [`Class::as_str`] spells it.
    pub class: String,
    /// When, by the destination's clock.
    pub at: String,
}

impl Lease {
    /// The lease of a slot that nobody ever owned.
    pub const fn absent() -> Self {
        Self {
            owner: None,
            epoch: Epoch(0),
            since: None,
            state: LeaseState::Released,
            heartbeat_age: None,
            status: None,
            phase: None,
            tombstone: None,
        }
    }

    pub(super) fn read(row: &Row) -> Result<Self, Error> {
        let state = match (row.try_get(2)?, row.try_get(3)?) {
            (true, _) => LeaseState::Live,
            (false, true) => LeaseState::Released,
            (false, false) => LeaseState::Expired,
        };
        let age: Option<i64> = row.try_get(4)?;
        let cause: Option<String> = row.try_get(6)?;
        let class: Option<String> = row.try_get(7)?;
        let at: Option<String> = row.try_get(8)?;
        Ok(Self {
            owner: row.try_get(0)?,
            epoch: Epoch(row.try_get(1)?),
            since: row.try_get(10)?,
            state,
            heartbeat_age: age
                .and_then(|ms| u64::try_from(ms).ok())
                .map(Duration::from_millis),
            status: row.try_get(5)?,
            phase: row.try_get(9)?,
            tombstone: cause.zip(class).zip(at).map(|((cause, class), at)| Buried {
                cause,
                class,
                at,
            }),
        })
    }

    pub(super) fn is_live(&self) -> bool {
        self.state == LeaseState::Live
    }
}

impl Store {
    /// Reads the lease without locking anything.
    ///
    /// # Errors
    /// Destination faults.
    pub async fn lease(&self, client: &Client, key: &Key) -> Result<Option<Lease>, Error> {
        let text = key.text();
        let sql = format!(
            "select {LEASE} from {} where {KEY}",
            self.table("replicant_leases")
        );
        let row = client.query_typed_opt(&sql, &text.params()).await?;
        row.as_ref().map(Lease::read).transpose()
    }

    /// Renews the lease and says how things are, as a JSON text. Use a connection that runs no delivery.
    ///
    /// # Errors
    /// `lease_lost` when somebody else bound the slot since.
    pub async fn heartbeat(
        &self,
        client: &Client,
        bound: &Bound,
        status: &str,
    ) -> Result<(), Error> {
        let sql = format!(
            "update {} set heartbeat_at = pg_catalog.clock_timestamp(), \
             expires_at = pg_catalog.clock_timestamp() + {LEASE_INTERVAL}, \
             status = $5::pg_catalog.jsonb where {FENCE}",
            self.table("replicant_leases")
        );
        let mut params = bound.fence();
        params.push((&status, Type::TEXT));
        match client.execute_typed(&sql, &params).await? {
            0 => Err(Reason::LeaseLost.into()),
            _ => Ok(()),
        }
    }

    /// Gives the lease back, so that the next binder need not wait. Harmless when it was lost already.
    ///
    /// # Errors
    /// Destination faults.
    pub async fn release(&self, client: &Client, bound: &Bound) -> Result<(), Error> {
        let sql = format!(
            "update {} set expires_at = '-infinity' where {FENCE}",
            self.table("replicant_leases")
        );
        client.execute_typed(&sql, &bound.fence()).await?;
        Ok(())
    }

    /// Gives the lease back and leaves the reason why; the next successful bind clears it.
    ///
    /// # Errors
    /// `lease_lost` when somebody else bound the slot since: the story is theirs now.
    pub async fn tombstone(
        &self,
        client: &Client,
        bound: &Bound,
        tombstone: Tombstone,
    ) -> Result<(), Error> {
        let sql = format!(
            "update {} set expires_at = '-infinity', terminal_cause = $5, terminal_class = $6, \
             terminal_at = pg_catalog.clock_timestamp() where {FENCE}",
            self.table("replicant_leases")
        );
        let class = tombstone.class.as_str();
        let mut params = bound.fence();
        params.push((&tombstone.cause, Type::TEXT));
        params.push((&class, Type::TEXT));
        match client.execute_typed(&sql, &params).await? {
            0 => Err(Reason::LeaseLost.into()),
            _ => Ok(()),
        }
    }
}
