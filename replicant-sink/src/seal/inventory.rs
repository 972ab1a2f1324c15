//! Which keys sealed what is stored, and how many values each? Asked before a key leaves the vault.
//!
//! Reads every row of every table with a sealed column, and of it the head of the envelope only: nothing is opened.

use std::collections::BTreeMap;

use replicant_checkpoint::contract::resource::{ColumnSpec, Protection, ResourceSpec};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use serde::Serialize;
use tokio_postgres::Client;

use super::envelope::{VERSION, key_of};
use super::key::Keyring;
use crate::admission::tables_of_tenants;
use crate::doctor::sides;
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::reason::Reason;
use crate::refusal::refused;
use crate::scope::SchemaTemplate;

/// What is known of every sealed column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Inventory {
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of the key that seals now; null when the pipeline has no vault.
    pub sealing: Option<String>,
    /// One entry per sealed column, in declaration order.
    pub columns: Vec<ColumnKeys>,
    /// 0: every value can be opened; 1: some cannot; 2: there is no vault to tell.
    pub exit_code: u8,
}

/// What sealed one column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ColumnKeys {
    /// The destination table.
    pub table: String,
    /// The destination column.
    pub column: String,
    /// One entry per key that sealed a value of it, by name.
    pub keys: Vec<KeyRows>,
    /// Values that are no envelope.
    pub unreadable: u64,
}

/// How many values a key sealed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeyRows {
    /// The key's name.
    pub key: String,
    /// How many rows.
    pub rows: u64,
    /// What the vault says of it.
    pub state: KeyState,
}

/// What a vault says of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// New values are sealed with it.
    Seals,
    /// It opens old values.
    Opens,
    /// The vault does not have it: the values cannot be opened.
    Missing,
    /// There is no vault.
    Unknown,
}

/// Counts the values of every sealed column by key.
///
/// # Errors
/// `config_invalid` and the like; the vault's reasons; whatever keeps the destination from being asked.
///
/// # Cancel safety
/// Cancel safe: the session is read-only.
pub async fn inventory(pipeline: &Pipeline) -> Result<Inventory, Error> {
    let ends = sides::read_only(pipeline)?;
    let keys = match pipeline.keys() {
        None => None,
        Some(vault) => Some(vault.keys().await?),
    };
    let session = sides::destination(&ends).await?;
    let mut columns = Vec::new();
    for resource in pipeline.spec().resources() {
        let sealed = |column: &&ColumnSpec| column.protection == Protection::Sealed;
        let mut sealed = resource.columns.iter().filter(sealed).peekable();
        if sealed.peek().is_none() {
            continue;
        }
        let tables = tables(&session.client, pipeline.spec(), resource).await?;
        for column in sealed {
            let counted = count(&session.client, &tables, column.target, keys.as_ref()).await?;
            columns.push(counted);
        }
    }
    let lost = columns.iter().any(|column| {
        let mut keys = column.keys.iter();
        column.unreadable > 0 || keys.any(|key| key.state == KeyState::Missing)
    });
    Ok(Inventory {
        pipeline: pipeline.name().to_owned(),
        sealing: keys.as_ref().map(|keys| keys.current().id().to_string()),
        exit_code: match (&keys, lost) {
            (_, true) => 1,
            (None, false) if !columns.is_empty() => 2,
            (_, false) => 0,
        },
        columns,
    })
}

/// Where the rows of a resource are, and what messages call it.
struct Tables {
    shown: QualifiedName,
    held_in: Vec<QualifiedName>,
}

async fn tables(
    client: &Client,
    spec: &SinkSpec,
    resource: &ResourceSpec,
) -> Result<Tables, Error> {
    let invalid = |_| Error::from(Reason::DeclarationInvalid);
    let target = resource.target;
    let shown = QualifiedName::new(target.schema, target.table).map_err(invalid)?;
    let template = resource.schema_of_tenants();
    let template = template.and_then(SchemaTemplate::parse);
    let Some(template) = template else {
        let held_in = vec![shown.clone()];
        return Ok(Tables { shown, held_in });
    };
    let found = tables_of_tenants(client, spec, template, &shown.name).await?;
    Ok(Tables {
        shown: QualifiedName::new(template.as_str(), target.table).map_err(invalid)?,
        held_in: found.into_iter().map(|(_, table)| table).collect(),
    })
}

async fn count(
    client: &Client,
    tables: &Tables,
    column: &str,
    keys: Option<&Keyring>,
) -> Result<ColumnKeys, Error> {
    let column = Ident::new(column).map_err(|_| Error::from(Reason::DeclarationInvalid))?;
    let name = column.quoted();
    let mut rows = Vec::new();
    for table in &tables.held_in {
        // Another release of the mirrored table may hold anything, so nothing is assumed of the bytes. What follows the
        // key's name differs from value to value, and must not be grouped by.
        let sql = format!(
            "select case when pg_catalog.octet_length(v) OPERATOR(pg_catalog.>=) 2 \
             and pg_catalog.get_byte(v, 0) OPERATOR(pg_catalog.=) {VERSION} \
             then pg_catalog.substring(v, 1, 2 OPERATOR(pg_catalog.+) pg_catalog.get_byte(v, 1)) \
             else pg_catalog.substring(v, 1, 1) end as head, pg_catalog.count(*) \
             from (select cast(t.{name} as pg_catalog.bytea) as v from {} as t where t.{name} is not null) as t \
             group by head",
            table.quoted()
        );
        let counted = client.query_typed(&sql, &[]).await.map_err(|error| {
            let fault = replicant_checkpoint::store::Fault::of(&error);
            refused(fault.sqlstate(), Site::table(&tables.shown).column(&column))
        })?;
        rows.extend(counted);
    }
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut unreadable = 0;
    for row in &rows {
        let read = |_| Error::from(Reason::DestinationUnreachable);
        let head: &[u8] = row.try_get(0).map_err(read)?;
        let rows: i64 = row.try_get(1).map_err(read)?;
        let rows = u64::try_from(rows).unwrap_or_default();
        match key_of(head) {
            Some(key) => *found.entry(key.as_str().to_owned()).or_default() += rows,
            None => unreadable += rows,
        }
    }
    Ok(ColumnKeys {
        table: tables.shown.to_string(),
        column: column.as_str().to_owned(),
        keys: found
            .into_iter()
            .map(|(key, rows)| KeyRows {
                state: state(keys, &key),
                key,
                rows,
            })
            .collect(),
        unreadable,
    })
}

fn state(keys: Option<&Keyring>, key: &str) -> KeyState {
    match keys {
        None => KeyState::Unknown,
        Some(keys) if keys.current().id().as_str() == key => KeyState::Seals,
        Some(keys) if keys.get(key).is_some() => KeyState::Opens,
        Some(_) => KeyState::Missing,
    }
}
