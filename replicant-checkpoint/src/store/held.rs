//! How far does the destination itself say that it is? Histories and logs hold commit positions of their own.
//!
//! A checkpoint can be forgotten while the tables stay. A mirror takes transactions again without harm; a history would
//! open windows that ended long ago, so what it holds already is recorded when a checkpoint first streams into it, and
//! left out. Events of a log recognise themselves; but a log that is ahead of its own checkpoint was not written with
//! it.

use std::collections::HashMap;

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::{CommitLsn, Lsn, Watermark};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bind::Bound;
use super::committed::Committed;
use super::identity::{Holds, Mapped};
use super::{Param, Store};
use crate::error::Error;
use crate::reason::Reason;

impl Store {
    /// The last commit that each history, by its source table, held when this checkpoint first streamed into it.
    ///
    /// # Errors
    /// Destination faults, `checkpoint_damaged`.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn recorded_until(
        &self,
        client: &Client,
        bound: &Bound,
    ) -> Result<HashMap<QualifiedName, CommitLsn>, Error> {
        let sql = format!(
            "select source_schema, source_table, recorded_until from {} \
             where slot = $1 and recorded_until is not null",
            self.table("replicant_tables")
        );
        let slot = bound.key().slot.as_str();
        let rows = client.query_typed(&sql, &[(&slot, Type::TEXT)]).await?;
        rows.iter()
            .map(|row| {
                let name = QualifiedName::new(row.try_get(0)?, row.try_get(1)?)
                    .map_err(|_| Reason::CheckpointDamaged)?;
                let until = Lsn::from_bigint(row.try_get(2)?).ok_or(Reason::CheckpointDamaged)?;
                Ok((name, CommitLsn::new(until)))
            })
            .collect()
    }

    /// Looks through histories that this checkpoint streams into for the first time.
    pub(super) async fn record_histories(
        &self,
        client: &Client,
        bound: &Bound,
        tables: &[&Mapped],
    ) -> Result<(), Error> {
        for table in tables {
            let Holds::Versions { opened, closed } = &table.holds else {
                continue;
            };
            let mut until: Option<i64> = None;
            for held_in in &table.held_in {
                let sql = format!(
                    "select greatest(pg_catalog.max({}), pg_catalog.max({})) from {}",
                    opened.quoted(),
                    closed.quoted(),
                    held_in.quoted()
                );
                let row = client.query_typed_one(&sql, &[]).await?;
                until = until.max(row.try_get(0)?);
            }
            self.refuse_beyond_source(bound, table, until)?;
            let sql = format!(
                "update {} set recorded_until = $4 \
                 where slot = $1 and source_schema = $2 and source_table = $3",
                self.table("replicant_tables")
            );
            let slot = bound.key().slot.as_str();
            let (schema, name) = (table.source.schema.as_str(), table.source.name.as_str());
            let params: [Param<'_>; 4] = [
                (&slot, Type::TEXT),
                (&schema, Type::TEXT),
                (&name, Type::TEXT),
                (&until, Type::INT8),
            ];
            client.execute_typed(&sql, &params).await?;
        }
        Ok(())
    }

    /// Positions that the source has not reached are another source's.
    fn refuse_beyond_source(
        &self,
        bound: &Bound,
        table: &Mapped,
        until: Option<i64>,
    ) -> Result<(), Error> {
        let Some(until) = until.and_then(Lsn::from_bigint) else {
            return Ok(());
        };
        if Watermark::stored(until).is_beyond(bound.wal_end()) {
            let fact = format!("the source's WAL ends at {}", bound.wal_end());
            let site = Site::table(&table.target).lsn(until).fact(fact);
            return Err(Error::new(Reason::SourceBehindWatermark, site));
        }
        Ok(())
    }

    /// Events and watermark commit together, so an event beyond it means that the checkpoint was changed alone.
    pub(super) async fn refuse_events_beyond(
        &self,
        client: &Client,
        bound: &Bound,
        committed: Committed,
        mapped: &[Mapped],
    ) -> Result<(), Error> {
        use replicant_transport::ack::CommitProof as _;
        let watermark = committed.watermark();
        for table in mapped {
            let Holds::Events {
                system,
                database,
                slot,
                commit_lsn,
            } = &table.holds
            else {
                continue;
            };
            let text = |column: &replicant_transport::ident::Ident| {
                format!("cast({} as pg_catalog.text)", column.quoted())
            };
            let mut last: Option<i64> = None;
            for held_in in &table.held_in {
                let sql = format!(
                    "select pg_catalog.max({}) from {} where {} = $1 and {} = $2 and {} = $3",
                    commit_lsn.quoted(),
                    held_in.quoted(),
                    text(system),
                    text(database),
                    text(slot),
                );
                let row = client
                    .query_typed_one(&sql, &bound.key().text().params())
                    .await?;
                last = last.max(row.try_get(0)?);
            }
            let last = last.and_then(Lsn::from_bigint);
            if let Some(last) = last
                && !watermark.covers(CommitLsn::new(last))
            {
                let site = Site::table(&table.target).lsn(last);
                let site = site.fact(format!("the watermark is {}", watermark.lsn()));
                return Err(Error::new(Reason::AppendFrontierDivergent, site));
            }
        }
        Ok(())
    }
}
