//! Does the mirror hold exactly what the shop holds? Judged row by row, on the server's own text of every value.

use std::collections::HashMap;

use tokio_postgres::{Client, Error};

use crate::schema::{TABLES, Table};

/// The verdict over all mirrored tables.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// Rows in the shop.
    pub rows_source: u64,
    /// Rows in the mirror.
    pub rows_mirror: u64,
    /// Keys that only the shop has.
    pub missing: u64,
    /// Rows that the mirror has and should not: of a key it has already, or of a key that the shop does not have.
    pub duplicated: u64,
    /// Keys whose rows differ in some column.
    pub different: u64,
    /// The table and key of the first few findings; keys of this shop are no secret.
    pub findings: Vec<String>,
}

impl Verdict {
    /// Are both sides equal?
    pub fn is_clean(&self) -> bool {
        self.missing == 0 && self.duplicated == 0 && self.different == 0
    }

    fn finding(&mut self, what: &str, table: Table, key: &str) {
        if self.findings.len() < 10 {
            self.findings.push(format!("{what}: {} {key}", table.name));
        }
    }
}

/// Compares every mirrored table. Both sides must be at rest.
///
/// # Errors
/// When a server refuses.
///
/// # Cancel safety
/// Cancel safe: it only reads.
pub async fn compare(source: &Client, mirror: &Client) -> Result<Verdict, Error> {
    let mut verdict = Verdict::default();
    for table in TABLES {
        compare_table(table, source, mirror, &mut verdict).await?;
    }
    Ok(verdict)
}

async fn compare_table(
    table: Table,
    source: &Client,
    mirror: &Client,
    verdict: &mut Verdict,
) -> Result<(), Error> {
    let mut expected: HashMap<String, Option<String>> = HashMap::new();
    for (key, row) in rows(table, source).await? {
        verdict.rows_source += 1;
        expected.insert(key, Some(row));
    }
    for (key, row) in rows(table, mirror).await? {
        verdict.rows_mirror += 1;
        match expected.get_mut(&key).map(Option::take) {
            Some(Some(wanted)) if wanted == row => {}
            Some(Some(_)) => {
                verdict.different += 1;
                verdict.finding("different", table, &key);
            }
            // Seen before, or never in the shop.
            Some(None) | None => {
                verdict.duplicated += 1;
                verdict.finding("duplicated", table, &key);
            }
        }
    }
    for (key, row) in &expected {
        if row.is_some() {
            verdict.missing += 1;
            verdict.finding("missing", table, key);
        }
    }
    Ok(())
}

async fn rows(table: Table, client: &Client) -> Result<Vec<(String, String)>, Error> {
    let columns = columns(table, client).await?;
    let query = format!(
        "select row({})::text, row({columns})::text from public.{}",
        table.key, table.name
    );
    let rows = client.query(&query, &[]).await?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// By name, because the two sides may list their columns in another order.
async fn columns(table: Table, client: &Client) -> Result<String, Error> {
    let row = client
        .query_one(
            "select pg_catalog.string_agg(pg_catalog.quote_ident(attname), ', ' order by attname) \
             from pg_catalog.pg_attribute \
             where attrelid = pg_catalog.to_regclass('public.' || $1::text) and attnum > 0 and not attisdropped",
            &[&table.name],
        )
        .await?;
    row.try_get(0)
}
