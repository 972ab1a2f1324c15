//! Are the mapped source tables and columns still the very ones whose rows the destination holds?
//!
//! Names survive what rows do not: a table dropped and created again, or a column dropped and added again, is announced
//! by identical bytes while its stored values changed without a row event. Object ids and attribute numbers tell them
//! apart, so they are stored when a table is first streamed and compared at every start.

use std::collections::{BTreeMap, HashMap, HashSet};

use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bind::Bound;
use super::{Param, Store};
use crate::error::Error;
use crate::reason::Reason;

/// One mapped table as this session found it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapped {
    /// The source table.
    pub source: QualifiedName,
    /// Its object id.
    pub source_oid: u32,
    /// The mapped source columns and their attribute numbers.
    pub columns: Vec<(Ident, i16)>,
    /// The destination table, as messages name it: of one in the schemas of tenants, the declared name.
    pub target: QualifiedName,
    /// Where its rows are: that table, or those of tenants.
    pub held_in: Vec<QualifiedName>,
    /// What such a table holds.
    pub holds: Holds,
}

/// What a destination table holds, and where it says how far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// The source's rows as they are now.
    Rows,
    /// Every version of them.
    Versions {
        /// Column of the commit LSN that opened a version.
        opened: Ident,
        /// Column of the commit LSN that closed it.
        closed: Ident,
    },
    /// One event per change.
    Events {
        /// Column of the source's system identifier.
        system: Ident,
        /// Column of its database.
        database: Ident,
        /// Column of the slot.
        slot: Ident,
        /// Column of the commit LSN.
        commit_lsn: Ident,
    },
}

impl Store {
    /// Under which other names the mapped columns were streamed before: rows written then still carry those. Asked
    /// after [`origin`](Self::origin), which proved that the tables are the same ones.
    ///
    /// # Errors
    /// `checkpoint_damaged`, destination faults.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn former_names(&self, client: &Client, bound: &Bound) -> Result<FormerNames, Error> {
        let stored = self.stored_identities(client, bound).await?;
        Ok(FormerNames(stored))
    }

    /// Refuses tables and columns that replaced those that were stored, and stores what is new or never was. Answers
    /// the tables that were never streamed before.
    pub(super) async fn identify<'m>(
        &self,
        client: &Client,
        bound: &Bound,
        mapped: &'m [Mapped],
    ) -> Result<Vec<&'m Mapped>, Error> {
        let stored = self.stored_identities(client, bound).await?;
        let mut changed = Vec::new();
        for table in mapped {
            let known = stored.get(&table.source);
            if let Some(known) = known {
                known.admits(table)?;
            }
            let now = Stored::after(table, known);
            if known != Some(&now) {
                changed.push((&table.source, now));
            }
        }
        self.write_identities(client, bound, &changed).await?;
        let new = mapped
            .iter()
            .filter(|table| !stored.contains_key(&table.source));
        Ok(new.collect())
    }

    async fn stored_identities(
        &self,
        client: &Client,
        bound: &Bound,
    ) -> Result<HashMap<QualifiedName, Stored>, Error> {
        let sql = format!(
            "select source_schema, source_table, source_oid, source_columns from {} \
             where slot = $1 and source_oid is not null",
            self.table("replicant_tables")
        );
        let slot = bound.key().slot.as_str();
        let rows = client.query_typed(&sql, &[(&slot, Type::TEXT)]).await?;
        rows.iter()
            .map(|row| {
                let name = QualifiedName::new(row.try_get(0)?, row.try_get(1)?)
                    .map_err(|_| Reason::CheckpointDamaged)?;
                let oid = row.try_get::<_, i64>(2)?;
                let stored = Stored {
                    oid: u32::try_from(oid).map_err(|_| Reason::CheckpointDamaged)?,
                    columns: parse(row.try_get::<_, Option<&str>>(3)?.unwrap_or_default())?,
                };
                Ok((name, stored))
            })
            .collect()
    }

    async fn write_identities(
        &self,
        client: &Client,
        bound: &Bound,
        tables: &[(&QualifiedName, Stored)],
    ) -> Result<(), Error> {
        if tables.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "insert into {} (slot, source_schema, source_table, completeness, source_oid, source_columns) \
             select $1, wanted.s, wanted.t, 'open', wanted.o, wanted.c from rows from (\
             pg_catalog.unnest($2), pg_catalog.unnest($3), pg_catalog.unnest($4), \
             pg_catalog.unnest($5)) as wanted (s, t, o, c) \
             on conflict (slot, source_schema, source_table) do update set \
             source_oid = excluded.source_oid, source_columns = excluded.source_columns",
            self.table("replicant_tables")
        );
        let slot = bound.key().slot.as_str();
        let names = tables.iter().map(|(name, _)| name);
        let schemas: Vec<&str> = names.clone().map(|name| name.schema.as_str()).collect();
        let names: Vec<&str> = names.map(|name| name.name.as_str()).collect();
        let oids: Vec<i64> = tables
            .iter()
            .map(|(_, table)| i64::from(table.oid))
            .collect();
        let columns: Vec<String> = tables
            .iter()
            .map(|(_, table)| encode(&table.columns))
            .collect();
        let params: [Param<'_>; 5] = [
            (&slot, Type::TEXT),
            (&schemas, Type::TEXT_ARRAY),
            (&names, Type::TEXT_ARRAY),
            (&oids, Type::INT8_ARRAY),
            (&columns, Type::TEXT_ARRAY),
        ];
        client.execute_typed(&sql, &params).await?;
        Ok(())
    }
}

/// Every name a mapped column had since it is mirrored, proven by its attribute number.
#[derive(Debug, Default)]
pub struct FormerNames(HashMap<QualifiedName, Stored>);

impl FormerNames {
    /// The other names of the column of this number in a source table.
    pub fn of<'a>(
        &'a self,
        table: &QualifiedName,
        attnum: i16,
        now: &'a Ident,
    ) -> impl Iterator<Item = &'a Ident> {
        let names = self
            .0
            .get(table)
            .into_iter()
            .flat_map(|table| &table.columns);
        names
            .filter(move |(name, number)| **number == attnum && *name != now)
            .map(|(name, _)| name)
    }
}

/// What was stored about one source table.
#[derive(PartialEq, Eq, Debug)]
struct Stored {
    oid: u32,
    columns: BTreeMap<Ident, i16>,
}

impl Stored {
    /// A column that was renamed keeps its number, and its old name is kept too: the backlog may still use it.
    fn after(now: &Mapped, known: Option<&Self>) -> Self {
        let mut columns: BTreeMap<Ident, i16> = now.columns.iter().cloned().collect();
        let numbers: HashSet<i16> = columns.values().copied().collect();
        for (name, attnum) in known.iter().flat_map(|known| &known.columns) {
            if numbers.contains(attnum) {
                columns.entry(name.clone()).or_insert(*attnum);
            }
        }
        Self {
            oid: now.source_oid,
            columns,
        }
    }

    fn admits(&self, now: &Mapped) -> Result<(), Error> {
        if self.oid != now.source_oid {
            let site = Site::table(&now.source);
            return Err(Error::new(Reason::SourceTableReplaced, site));
        }
        let replaced = now
            .columns
            .iter()
            .find(|(column, attnum)| self.columns.get(column).is_some_and(|was| was != attnum));
        match replaced {
            None => Ok(()),
            Some((column, _)) => Err(Error::new(
                Reason::SourceColumnReplaced,
                Site::table(&now.source).column(column),
            )),
        }
    }
}

/// One line per column: attribute number, space, name. A name has no control characters, so it ends with its line.
fn encode(columns: &BTreeMap<Ident, i16>) -> String {
    let lines: Vec<String> = columns
        .iter()
        .map(|(name, attnum)| format!("{attnum} {}", name.as_str()))
        .collect();
    lines.join("\n")
}

fn parse(text: &str) -> Result<BTreeMap<Ident, i16>, Error> {
    let column = |line: &str| {
        let (attnum, name) = line.split_once(' ')?;
        Some((Ident::new(name).ok()?, attnum.parse().ok()?))
    };
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| column(line).ok_or_else(|| Reason::CheckpointDamaged.into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_column_keeps_its_old_name_and_a_dropped_one_does_not() {
        let ident = |name: &str| Ident::new(name).unwrap();
        let mapped = |columns: &[(&str, i16)]| Mapped {
            source: QualifiedName::new("public", "t").unwrap(),
            source_oid: 16_400,
            columns: columns
                .iter()
                .map(|(name, attnum)| (ident(name), *attnum))
                .collect(),
            target: QualifiedName::new("public", "t").unwrap(),
            held_in: Vec::new(),
            holds: Holds::Rows,
        };
        let first = Stored::after(&mapped(&[("id", 1), ("v", 2), ("w", 3)]), None);
        let later = mapped(&[("id", 1), ("remark", 2)]);
        assert_eq!(first.admits(&later), Ok(()));
        let second = Stored::after(&later, Some(&first));
        assert_eq!(second, Stored::after(&later, Some(&second)));
        let names = FormerNames(HashMap::from([(later.source.clone(), second)]));
        let of = |attnum, now| {
            let now = ident(now);
            let names = names.of(&later.source, attnum, &now);
            names.map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of(2, "remark"), ["v"]);
        assert_eq!(of(1, "id"), [""; 0]);
        assert_eq!(of(3, "x"), [""; 0]);
    }

    #[test]
    fn columns_are_read_as_they_were_written() {
        let columns: BTreeMap<_, _> = [("id", 1), (" a  b", 2), ("1 \"ö", 1600)]
            .map(|(name, attnum)| (Ident::new(name).unwrap(), attnum))
            .into();
        let read = parse(&encode(&columns)).unwrap();
        assert_eq!(read, columns);
        assert_eq!(parse(""), Ok(BTreeMap::new()));
        for damaged in ["id", "x id", "70000 id", "1 a\n2"] {
            assert!(parse(damaged).is_err(), "{damaged}");
        }
    }
}
