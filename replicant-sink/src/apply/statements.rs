//! Which statements are prepared on the connection: one per table, action and set of columns.

use std::collections::HashMap;
use std::sync::Arc;

use postgres_types::{Kind, Type};
use tokio_postgres::{Client, Statement};

use super::fault::Failure;
use super::sql::{Action, Parameter, sql};
use crate::generation::Table;
use crate::plan::ColumnSet;

/// A prepared statement and what it takes.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) statement: Statement,
    pub(crate) parameters: Vec<Parameter>,
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

/// The statements of one connection.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    prepared: HashMap<Shape, Arc<Prepared>>,
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
        let types: Vec<Type> = sql.parameters.iter().map(array_type).collect();
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
        });
        self.prepared.insert(shape, Arc::clone(&prepared));
        Ok(prepared)
    }
}

fn array_type(parameter: &Parameter) -> Type {
    Type::from_oid(parameter.array)
        .unwrap_or_else(|| Type::new(String::new(), parameter.array, Kind::Simple, String::new()))
}
