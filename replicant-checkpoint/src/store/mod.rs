//! The rows a checkpoint is made of, in the destination: the only code that reads or writes them.
//!
//! One checkpoint belongs to one (source system, source database, slot) and is three rows, because one row cannot
//! be the lock of every delivery, the wide manifest and the heartbeat at the same time:
//!
//! | table | holds | written by |
//! | --- | --- | --- |
//! | `replicant_watermarks` | watermark, acked end, message end, epoch | every delivery, under its own lock |
//! | `replicant_contracts` | timeline, manifest, fingerprint | bind |
//! | `replicant_leases` | owner, epoch, expiry, heartbeat, status, tombstone | bind and heartbeat; never by delivery |
//!
//! Beside them: `replicant_tables` (completeness and identity per source table), `replicant_targets` (which sink writes which
//! destination table), `replicant_decisions` (what operators decided), `replicant_format` and the sequence
//! `replicant_epochs`. A sink with message actions has `replicant_claims` too, which a migration makes.
//!
//! The order of one connect is `bind` (who may write, since when), `origin` (where the stream starts), then any
//! number of `begin` / `commit`. **Locks are always taken lease first, watermark second**, and a delivery takes
//! only the second, so they cannot deadlock.
//!
//! Every statement relies on the session's `search_path` being empty: names are qualified, and bare operators then
//! resolve in `pg_catalog` only.
//!
//! Reading order: [`schema`], [`bind`], [`origin`], [`identity`], [`delivery`], [`statements`], [`resolve`], [`lease`],
//! [`lease_owner`], [`lease_lock`], [`tables`], [`claims`], [`look`], [`operator`].

pub mod bind;
pub mod claims;
pub mod committed;
pub mod delivery;
pub mod fault;
mod held;
pub mod identity;
pub mod lease;
pub mod lease_lock;
pub mod lease_owner;
pub mod look;
pub mod operator;
pub mod origin;
pub mod resolve;
mod rows;
pub mod schema;
pub mod statements;
pub mod tables;
mod targets;
mod transaction;
mod transition;

use std::sync::Arc;

use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, SlotName};
use replicant_transport::source::ExpectedSource;
use tokio_postgres::types::{ToSql, Type};

pub use bind::{Binding, Bound, Epoch, Outcome, Standing};
pub use committed::{CommitWarnings, Committed};
pub use delivery::{Admission, CommitFailure, Delivery};
pub use fault::Fault;
pub use identity::{FormerNames, Holds, Mapped};
pub use lease::{Buried, LEASE_SECONDS, Lease, LeaseState, Tombstone};
pub use lease_lock::LeaseLock;
pub use lease_owner::owner_name;
pub use look::{Decision, Shown};
pub use operator::{Decided, Position};
pub use resolve::Resolution;
pub use schema::Migrated;
pub use statements::Prepared;
pub use tables::Completeness;

use crate::contract::sink::CheckpointSpec;
use crate::error::Error;
use crate::reason::Reason;

/// Which checkpoint: one source database read through one slot.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Key {
    /// The source.
    pub source: ExpectedSource,
    /// The slot. One slot name has one checkpoint in a destination.
    pub slot: SlotName,
}

impl Key {
    fn text(&self) -> KeyText {
        KeyText {
            system: self.source.system.to_string(),
            database: self.source.database.clone(),
            slot: self.slot.as_str().to_owned(),
        }
    }
}

/// A key as its three columns spell it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct KeyText {
    system: String,
    database: String,
    slot: String,
}

impl KeyText {
    /// `$1` to `$3` of every statement that finds one row.
    fn params(&self) -> Vec<Param<'_>> {
        vec![
            (&self.system, Type::TEXT),
            (&self.database, Type::TEXT),
            (&self.slot, Type::TEXT),
        ]
    }
}

/// A parameter and its declared type. Declaring types saves the round trip that prepares a statement.
type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// The row of one key.
const KEY: &str = "system_id = $1 and database = $2 and slot = $3";

/// The row of one key while its epoch is ours.
const FENCE: &str = "system_id = $1 and database = $2 and slot = $3 and epoch = $4";

/// The checkpoint of one declaration, on whichever connection it is asked to work.
///
/// Cheap to clone. It holds no connection: every function takes the client to use.
#[derive(Clone, Debug)]
pub struct Store {
    schema: Ident,
    select_grant: Option<Ident>,
    statements: Arc<statements::Statements>,
    warnings: CommitWarnings,
}

impl Store {
    /// The checkpoint in the declared schema.
    ///
    /// # Errors
    /// `checkpoint_invalid` when the schema or the role is not an identifier.
    pub fn new(spec: &CheckpointSpec) -> Result<Self, Error> {
        let ident = |text, option| {
            Ident::new(text)
                .map_err(|_| Error::new(Reason::CheckpointInvalid, Site::option(option)))
        };
        let schema = ident(spec.schema, "schema")?;
        let select_grant = spec
            .select_grant
            .map(|role| ident(role, "grants(select)"))
            .transpose()?;
        Ok(Self {
            select_grant,
            ..Self::in_schema(schema)
        })
    }

    /// The checkpoint in this schema, which no role but its owner may read.
    pub fn in_schema(schema: Ident) -> Self {
        Self {
            statements: Arc::new(statements::Statements::new(&schema)),
            schema,
            select_grant: None,
            warnings: CommitWarnings::default(),
        }
    }

    /// Where the driver of a destination connection reports the notices it receives.
    ///
    /// A commit that a synchronous standby did not confirm returns successfully and says so only in a warning, which
    /// reaches the connection's driver and not the caller of the commit.
    pub fn warnings(&self) -> CommitWarnings {
        self.warnings.clone()
    }

    /// `"schema"."table"` of one of our tables.
    fn table(&self, name: &str) -> String {
        format!("{}.{name}", self.schema.quoted())
    }
}
