//! Does the destination hold every row of a source table?
//!
//! It decides what an UPDATE of an absent row means: in a complete table the destination has diverged, in any other
//! the row simply was never copied. A table without an entry is open.

use std::collections::HashMap;

use replicant_transport::ident::QualifiedName;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bind::Bound;
use super::delivery::no_position;
use super::transaction::Open;
use super::{Param, Store};
use crate::error::Error;

/// How much of a source table the destination holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Completeness {
    /// Every row.
    Complete,
    /// A snapshot is being copied.
    Filling,
    /// Only rows that changed since the start.
    Open,
}

impl Completeness {
    /// Stable name, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Filling => "filling",
            Self::Open => "open",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::Complete, Self::Filling, Self::Open]
            .into_iter()
            .find(|value| value.as_str() == text)
    }
}

impl Store {
    /// Sets the completeness of source tables, all or none.
    ///
    /// # Errors
    /// `lease_lost` when somebody else bound the slot; `checkpoint_unbound`.
    ///
    /// # Cancel safety
    /// Dropping the future rolls back what was not committed.
    pub async fn set_completeness(
        &self,
        client: &Client,
        bound: &Bound,
        tables: &[(QualifiedName, Completeness)],
    ) -> Result<(), Error> {
        let open = Open::new(client);
        let positions = self.lock(client, bound, None).await?;
        if positions.acked_end.is_none() {
            return Err(no_position());
        }
        self.write_completeness(client, bound, tables).await?;
        open.commit().await
    }

    /// What is recorded; every table that is not in it is [`Completeness::Open`].
    ///
    /// # Errors
    /// Destination faults.
    pub async fn completeness(
        &self,
        client: &Client,
        bound: &Bound,
    ) -> Result<HashMap<QualifiedName, Completeness>, Error> {
        self.completeness_of(client, &bound.key().slot).await
    }

    /// Writes entries inside a transaction that holds the watermark's lock.
    pub(super) async fn write_completeness(
        &self,
        client: &Client,
        bound: &Bound,
        tables: &[(QualifiedName, Completeness)],
    ) -> Result<(), Error> {
        if tables.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "insert into {} (slot, source_schema, source_table, completeness) \
             select $1, wanted.s, wanted.t, wanted.c from rows from (pg_catalog.unnest($2), \
             pg_catalog.unnest($3), pg_catalog.unnest($4)) as wanted (s, t, c) \
             on conflict (slot, source_schema, source_table) \
             do update set completeness = excluded.completeness",
            self.table("replicant_tables")
        );
        let slot = bound.key().slot.as_str();
        let schemas: Vec<&str> = tables
            .iter()
            .map(|(name, _)| name.schema.as_str())
            .collect();
        let names: Vec<&str> = tables.iter().map(|(name, _)| name.name.as_str()).collect();
        let values: Vec<&str> = tables.iter().map(|(_, value)| value.as_str()).collect();
        let params: [Param<'_>; 4] = [
            (&slot, Type::TEXT),
            (&schemas, Type::TEXT_ARRAY),
            (&names, Type::TEXT_ARRAY),
            (&values, Type::TEXT_ARRAY),
        ];
        client.execute_typed(&sql, &params).await?;
        Ok(())
    }
}
