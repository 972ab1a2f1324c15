//! Which statements are prepared on the connection: one per table, action and set of columns.

use std::collections::HashMap;
use std::sync::Arc;

use postgres_types::{Kind, Type};
use tokio_postgres::{Client, Statement};

use super::fault::Failure;
use super::filled::FilledPrepared;
use super::filled_sql::{FilledAction, of_history, of_log};
use super::sql::{Action, Parameter, sql};
use crate::generation::{Held, Table};
use crate::plan::ColumnSet;
use crate::seal::Seals;

/// A prepared statement and what it takes.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) statement: Statement,
    pub(crate) parameters: Vec<Parameter>,
    /// What seals them.
    pub(crate) seals: Arc<Seals>,
}

#[derive(PartialEq, Eq, Hash, Debug)]
struct Shape {
    table: usize,
    action: Action,
    columns: ColumnSet,
}

/// Statements kept prepared at most. Each costs the server some memory; tables whose updates leave ever other
/// columns out could otherwise make as many as there are subsets.
const PREPARED_MAX: usize = 512;

/// Which statement of a history or a log.
#[derive(PartialEq, Eq, Hash, Debug)]
struct FilledShape {
    table: usize,
    action: FilledAction,
    columns: ColumnSet,
}

/// The statements of one connection.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    prepared: HashMap<Shape, Arc<Prepared>>,
    filled: HashMap<FilledShape, Arc<FilledPrepared>>,
}

impl Statements {
    /// The prepared statement, prepared now if it is not yet.
    pub(crate) async fn get(
        &mut self,
        client: &Client,
        (index, table): (usize, &Table),
        action: Action,
        columns: &ColumnSet,
    ) -> Result<Arc<Prepared>, Failure> {
        let shape = Shape {
            table: index,
            action,
            columns: columns.clone(),
        };
        if let Some(known) = self.prepared.get(&shape) {
            return Ok(Arc::clone(known));
        }
        let sql = sql(table, action, columns);
        let types: Vec<Type> = {
            let arrays = sql.parameters.iter().map(|parameter| parameter.array);
            arrays.map(array_type).collect()
        };
        let statement = client
            .prepare_typed(&sql.text, &types)
            .await
            .map_err(|error| Failure::of(&error, Some(table)))?;
        if self.prepared.len() >= PREPARED_MAX {
            self.prepared.clear();
        }
        let prepared = Arc::new(Prepared {
            statement,
            parameters: sql.parameters,
            seals: Arc::clone(&table.seals),
        });
        self.prepared.insert(shape, Arc::clone(&prepared));
        Ok(prepared)
    }

    /// The prepared statement of a history or a log, prepared now if it is not yet.
    pub(crate) async fn filled(
        &mut self,
        client: &Client,
        (index, table): (usize, &Table),
        action: FilledAction,
        columns: &ColumnSet,
    ) -> Result<Arc<FilledPrepared>, Failure> {
        let shape = FilledShape {
            table: index,
            action,
            columns: columns.clone(),
        };
        if let Some(known) = self.filled.get(&shape) {
            return Ok(Arc::clone(known));
        }
        let sql = match &table.held {
            Held::History(history) => of_history(table, history, &shape.action, columns),
            Held::AppendLog(log) => of_log(table, log, &shape.action, columns),
            Held::Mirror => None,
        };
        let sql = sql.ok_or_else(|| Failure::internal(&table.shown))?;
        let arrays = sql.parameters.iter().map(|parameter| parameter.array);
        let types: Vec<Type> = arrays.map(array_type).collect();
        let statement = client
            .prepare_typed(&sql.text, &types)
            .await
            .map_err(|error| Failure::of(&error, Some(table)))?;
        if self.filled.len() >= PREPARED_MAX {
            self.filled.clear();
        }
        let prepared = Arc::new(FilledPrepared {
            statement,
            parameters: sql.parameters,
            seals: Arc::clone(&table.seals),
        });
        self.filled.insert(shape, Arc::clone(&prepared));
        Ok(prepared)
    }
}

fn array_type(oid: u32) -> Type {
    Type::from_oid(oid)
        .unwrap_or_else(|| Type::new(String::new(), oid, Kind::Simple, String::new()))
}
