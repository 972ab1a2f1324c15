//! Does any connection of an owner still exist?
//!
//! An owner holds a session advisory lock on the connection that renews its lease. The server gives the lock up the
//! moment that connection ends, so whoever gets it knows that no owner is left and need not wait for the lease to
//! expire. Who does not get it knows less: the owner may live, may be paused, or may be gone without its server
//! having noticed. Source: PostgreSQL documentation, section "Advisory Locks".

use ring::digest::{Context, SHA256};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::{Key, Param, Store};
use crate::error::Error;

/// Who holds the lock of a lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseLock {
    /// The session that asked.
    Ours,
    /// Another session.
    Elsewhere,
    /// Nobody.
    Free,
}

impl LeaseLock {
    /// Stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Elsewhere => "elsewhere",
            Self::Free => "free",
        }
    }
}

impl Store {
    /// Takes the lock for the rest of the session, unless another session has it. Needs no checkpoint tables.
    ///
    /// A session that asks twice holds it twice, and gives it back only when it ends or unlocks as often.
    ///
    /// # Errors
    /// Destination faults.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the session holds it.
    pub async fn try_lease_lock(&self, client: &Client, key: &Key) -> Result<LeaseLock, Error> {
        let number = self.lock_number(key);
        let params: [Param<'_>; 1] = [(&number, Type::INT8)];
        let sql = "select pg_catalog.pg_try_advisory_lock($1)";
        let row = client.query_typed_one(sql, &params).await?;
        Ok(match row.try_get(0)? {
            true => LeaseLock::Ours,
            false => LeaseLock::Elsewhere,
        })
    }

    /// Gives the lock back before the session ends. Harmless when it is not held.
    ///
    /// # Errors
    /// Destination faults.
    pub async fn lease_unlock(&self, client: &Client, key: &Key) -> Result<(), Error> {
        let number = self.lock_number(key);
        let params: [Param<'_>; 1] = [(&number, Type::INT8)];
        let sql = "select pg_catalog.pg_advisory_unlock($1)";
        client.query_typed_one(sql, &params).await?;
        Ok(())
    }

    /// Looks who holds the lock, without taking it.
    ///
    /// # Errors
    /// Destination faults.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn lease_lock(&self, client: &Client, key: &Key) -> Result<LeaseLock, Error> {
        let number = self.lock_number(key);
        // A lock on one bigint shows its halves, and 1 in `objsubid`: documentation, view "pg_locks".
        let sql = "select pid = pg_catalog.pg_backend_pid() from pg_catalog.pg_locks \
                   where locktype = 'advisory' and granted and objsubid = 1 \
                   and database = (select oid from pg_catalog.pg_database \
                   where datname = pg_catalog.current_database()) \
                   and (classid::pg_catalog.int8 << 32 | objid::pg_catalog.int8) = $1";
        let params: [Param<'_>; 1] = [(&number, Type::INT8)];
        Ok(match client.query_typed_opt(sql, &params).await? {
            None => LeaseLock::Free,
            Some(row) => match row.try_get(0)? {
                true => LeaseLock::Ours,
                false => LeaseLock::Elsewhere,
            },
        })
    }

    /// The number of the lock: one per checkpoint row, and none that anybody else would choose.
    fn lock_number(&self, key: &Key) -> i64 {
        let text = key.text();
        let mut hash = Context::new(&SHA256);
        for part in [
            "replicant lease",
            self.schema.as_str(),
            &text.system,
            &text.database,
            &text.slot,
        ] {
            hash.update(part.as_bytes());
            hash.update(b"\0");
        }
        let digest = hash.finish();
        let first = digest.as_ref().first_chunk().copied().unwrap_or_default();
        i64::from_be_bytes(first)
    }
}
