//! What does the destination's catalog say about the mapped tables? Reads only, in two round trips.
//!
//! Every query takes the tables as two arrays (schemas and names) and answers with the position in them, so one
//! batch covers any number of tables. Catalogs: PostgreSQL documentation, "System Catalogs", versions 12 to 18.

mod queries;
mod rows;

use std::error::Error as StdError;
use std::fmt;

use bytes::BytesMut;
use postgres_types::{IsNull, ToSql, Type};
use replicant_checkpoint::store::Fault;
use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::pg_type::types_sql;
use tokio_postgres::Client;

use super::facts::Facts;
use crate::error::Error;
use crate::refusal::unanswered;

/// Reads everything about `targets` that admission judges.
///
/// # Errors
/// When the destination does not answer, or answers with something that no supported version would.
pub(super) async fn read(client: &Client, targets: &[&QualifiedName]) -> Result<Facts, Error> {
    let schemas = Schemas(targets.iter().map(|name| name.schema.as_str()).collect());
    let names: Vec<&str> = targets.iter().map(|name| name.name.as_str()).collect();
    let version: i32 = client
        .query_one(queries::VERSION, &[])
        .await
        .and_then(|row| row.try_get(0))
        .map_err(|error| failed(&error))?;
    let (server, foreign_keys) = (queries::server(version), queries::foreign_keys(version));
    let types = types_sql(u32::try_from(version).unwrap_or(0), queries::TYPES_USED);
    let asked: [&(dyn ToSql + Sync); 2] = [&schemas, &names];
    let (
        server,
        tables,
        columns,
        types,
        inputs,
        unique,
        constraints,
        triggers,
        rules,
        foreign_keys,
    ) = tokio::try_join!(
        client.query_one(server, &[]),
        client.query(queries::TABLES, &asked),
        client.query(queries::COLUMNS, &asked),
        client.query(&types, &asked),
        client.query(queries::INPUTS, &[]),
        client.query(queries::UNIQUE, &asked),
        client.query(queries::CONSTRAINTS, &asked),
        client.query(queries::TRIGGERS, &asked),
        client.query(queries::RULES, &asked),
        client.query(foreign_keys, &asked),
    )
    .map_err(|error| failed(&error))?;
    let mut tables = rows::tables(&tables, targets)?;
    rows::columns(&columns, &rows::types(&types)?, &mut tables)?;
    rows::unique(&unique, &mut tables)?;
    rows::constraints(&constraints, &mut tables)?;
    rows::triggers(&triggers, &mut tables)?;
    rows::rules(&rules, &mut tables)?;
    Ok(Facts {
        server: rows::server(version, &server)?,
        tables: tables.into_values().collect(),
        inputs: rows::inputs(&inputs)?,
        foreign_keys: rows::foreign_keys(&foreign_keys, targets)?,
    })
}

/// Names of schemas as a parameter. A schema's name can tell a tenant, and the client library logs what a parameter's
/// debug output is.
struct Schemas<'a>(Vec<&'a str>);

impl fmt::Debug for Schemas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schemas({})", self.0.len())
    }
}

impl ToSql for Schemas<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        self.0.to_sql(ty, out)
    }

    fn accepts(ty: &Type) -> bool {
        <Vec<&str> as ToSql>::accepts(ty)
    }

    postgres_types::to_sql_checked!();
}

/// A catalog read that failed says nothing about the declaration: only the condition is kept.
fn failed(error: &tokio_postgres::Error) -> Error {
    let site = Site::none().fact("the destination's catalog could not be read");
    unanswered(Fault::of(error), site)
}
