//! The two statements of every delivery, and how they reach the server.
//!
//! Sent as text they work on any connection; prepared once per connection they save the server parsing and planning
//! them for every delivery, which is most of what a delivery without rows costs.

use std::fmt;

use replicant_transport::ident::Ident;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};

use super::{FENCE, Param, Store};
use crate::error::Error;

/// Their texts.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) lock: String,
    pub(super) advance: String,
}

impl Statements {
    pub(super) fn new(schema: &Ident) -> Self {
        let table = format!("{}.replicant_watermarks", schema.quoted());
        Self {
            lock: format!("select watermark, acked_end from {table} where {FENCE} for update"),
            // COMMIT travels behind this statement without waiting for its answer. So it must fail, and thereby
            // turn that COMMIT into a ROLLBACK, when it finds no row to move: dividing by the count does.
            advance: format!(
                "with moved as (update {table} set watermark = $5, \
                 acked_end = greatest(acked_end, $6) \
                 where {FENCE} and (watermark is null or watermark < $5) returning 1) \
                 select 1 / pg_catalog.count(*) from moved"
            ),
        }
    }
}

/// The delivery statements of one connection. On another connection the server does not know them.
#[derive(Clone)]
pub struct Prepared {
    pub(super) lock: Statement,
    pub(super) advance: Statement,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prepared")
    }
}

impl Store {
    /// Prepares the delivery statements on this connection, for [`Store::begin_prepared`].
    ///
    /// # Errors
    /// Destination faults.
    pub async fn prepare(&self, client: &Client) -> Result<Prepared, Error> {
        let fence = [Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8];
        let [system, database, slot, epoch] = fence.clone();
        let moved = [system, database, slot, epoch, Type::INT8, Type::INT8];
        let (lock, advance) = tokio::try_join!(
            client.prepare_typed(&self.statements.lock, &fence),
            client.prepare_typed(&self.statements.advance, &moved),
        )?;
        Ok(Prepared { lock, advance })
    }
}

/// Runs a statement that returns at most one row, prepared where it is.
pub(super) async fn at_most_one(
    client: &Client,
    prepared: Option<&Statement>,
    text: &str,
    params: &[Param<'_>],
) -> Result<Option<Row>, tokio_postgres::Error> {
    match prepared {
        None => client.query_typed_opt(text, params).await,
        Some(statement) => {
            let values: Vec<&(dyn ToSql + Sync)> = params.iter().map(|(value, _)| *value).collect();
            client.query_opt(statement, &values).await
        }
    }
}
