//! Does the destination hold what the source has? Hand-made changes written to a private server.

mod ladder;
mod one_by_one;
mod sets;
mod stops;
mod text;
mod values;

use std::sync::Arc;

use replicant_transport::change::Change;
use replicant_transport::relation::Relation;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::{Applied, Applier, Failure};
use crate::fixture::{connect, describe, generation, piece, relation};
use crate::generation::{Constraints, Table};
use crate::plan::Completeness;
use crate::reason::Reason;
use crate::refusal::refused;

/// A destination, and what the source would say about its tables.
struct Mirror {
    client: Client,
    applier: Applier,
    relations: Vec<Arc<Relation>>,
}

impl Mirror {
    /// Runs the DDL and describes the named tables, each with its key.
    async fn new(ddl: &str, tables: &[(&str, &[&str])]) -> Self {
        Self::with(ddl, tables, Completeness::Complete, |_| {}).await
    }

    async fn with(
        ddl: &str,
        names: &[(&str, &[&str])],
        completeness: Completeness,
        adjust: impl FnOnce(&mut Vec<Table>),
    ) -> Self {
        let constraints = Constraints::Deferred {
            foreign_keys: Vec::new(),
            unique: Vec::new(),
        };
        Self::under(ddl, names, completeness, constraints, adjust).await
    }

    async fn under(
        ddl: &str,
        names: &[(&str, &[&str])],
        completeness: Completeness,
        constraints: Constraints,
        adjust: impl FnOnce(&mut Vec<Table>),
    ) -> Self {
        let client = connect().await;
        client.batch_execute(ddl).await.unwrap();
        let mut tables = Vec::new();
        for (name, keys) in names {
            tables.push(describe(&client, name, keys).await);
        }
        adjust(&mut tables);
        let relations = tables.iter().map(relation).collect();
        let mut generation = generation(tables);
        generation.constraints = constraints;
        let completeness = vec![completeness; names.len()].into();
        Self {
            client,
            applier: Applier::new(Arc::new(generation), completeness),
            relations,
        }
    }

    fn relation(&self) -> Arc<Relation> {
        Arc::clone(&self.relations[0])
    }

    /// Applies the changes in a transaction of their own.
    async fn try_apply(&mut self, changes: Vec<Change>) -> Result<Applied, Failure> {
        self.client
            .batch_execute("begin isolation level read committed")
            .await
            .unwrap();
        self.applier.open(&self.client).await.unwrap();
        let applied = self.applier.apply(&self.client, &piece(changes)).await;
        let end = if applied.is_ok() {
            "commit"
        } else {
            "rollback"
        };
        self.client.batch_execute(end).await.unwrap();
        applied
    }

    async fn apply(&mut self, changes: Vec<Change>) -> Applied {
        self.try_apply(changes).await.unwrap()
    }

    /// The code of the reason why the changes are not applied.
    async fn stop(&mut self, changes: Vec<Change>) -> &'static str {
        match self.try_apply(changes).await {
            Err(Failure::Stop(error)) => error.code(),
            Err(Failure::Database { fault, site }) => refused(fault.sqlstate(), *site).code(),
            Err(Failure::AcrossTenants { .. }) => Reason::TenantConflict.code(),
            other => panic!("expected a stop, got {other:?}"),
        }
    }

    /// The rows a query answers, `|` between columns.
    async fn rows(&self, query: &str) -> Vec<String> {
        let messages = self.client.simple_query(query).await.unwrap();
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                let cells = (0..row.len()).map(|index| row.get(index).unwrap_or("NULL"));
                Some(cells.collect::<Vec<_>>().join("|"))
            }
            _ => None,
        });
        rows.collect()
    }
}
