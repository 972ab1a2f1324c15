//! What the publications publish: tables with their columns, keys, replica identity and privileges.
//!
//! Every catalog column is asked for only where the server's release has it. Source: PostgreSQL documentation,
//! "System Catalogs" and the view `pg_publication_tables`.

use std::collections::{BTreeMap, HashMap};

use super::publications::literals;
use super::{ask, name, unexpected, while_doing};
use crate::connect::{Replication, Row};
use crate::error::{Error, Site};
use crate::ident::{Ident, QualifiedName};
use crate::pg_type::{TypeLine, Types, types_sql};
use crate::reason::Reason;
use crate::relation::ReplicaIdentity;
use crate::source::{Generated, SourceTable, TableColumn, TableKind};

const DOING: &str = "reading published tables";
/// The first release with row filters and column lists.
const FILTERS_RELEASE: u32 = 150_000;

/// Reads every published table, ordered by schema and name.
///
/// # Errors
/// `publication_column_lists_differ` when two publications send different columns of one table; what the server
/// reports.
pub(super) async fn read_tables(
    replication: &mut Replication,
    version_num: u32,
    publications: &[Ident],
) -> Result<Vec<SourceTable>, Error> {
    let listed = listed_sql(version_num, publications);
    let only_oids = format!("select l.oid from ({listed}) l");
    let types = read_types(replication, version_num, &only_oids).await?;
    let mut tables = read_table_rows(replication, &listed).await?;
    read_columns(
        replication,
        &only_oids,
        version_num,
        publications,
        &types,
        &mut tables,
    )
    .await?;
    read_keys(replication, &only_oids, &mut tables).await?;
    let mut tables: Vec<SourceTable> = tables
        .into_values()
        .map(|draft| draft.finish(version_num))
        .collect();
    tables.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(tables)
}

/// Every type reachable from the columns of these tables.
async fn read_types(
    replication: &mut Replication,
    version_num: u32,
    only_oids: &str,
) -> Result<Types, Error> {
    let failed = while_doing(DOING);
    let used = format!(
        "select a.atttypid from pg_catalog.pg_attribute a \
         where a.attrelid in ({only_oids}) and a.attnum > 0 and not a.attisdropped"
    );
    let answer = ask(replication, &types_sql(version_num, &used), DOING).await?;
    let mut types = Types::default();
    for row in answer.rows() {
        let text = |column| row.text(column).map_err(&failed);
        let part = match text("part")? {
            None => None,
            Some(part) => Some((
                part,
                row.required("part_type").map_err(&failed)?,
                row.required("part_modifier").map_err(&failed)?,
            )),
        };
        types.add(&TypeLine {
            oid: row.required("oid").map_err(&failed)?,
            name: QualifiedName {
                schema: name(text("nspname")?, DOING)?,
                name: name(text("typname")?, DOING)?,
            },
            kind: text("typtype")?.unwrap_or_default(),
            base: row.required("typbasetype").map_err(&failed)?,
            modifier: row.required("typtypmod").map_err(&failed)?,
            element: row.required("typelem").map_err(&failed)?,
            is_array: row.flag("is_array").map_err(&failed)?,
            not_null: row.flag("not_null").map_err(&failed)?,
            has_default: row.flag("has_default").map_err(&failed)?,
            bounds: row.optional("bounds").map_err(&failed)?,
            order: [
                text("range_collation")?,
                text("range_class")?,
                text("range_canonical")?,
            ],
            part,
        })?;
    }
    Ok(types)
}

/// One row per published table: `oid`, `filtered`, `lists` (how many different column lists it has).
fn listed_sql(version_num: u32, publications: &[Ident]) -> String {
    let (filtered, lists) = if version_num >= FILTERS_RELEASE {
        (
            "pg_catalog.bool_or(t.rowfilter is not null)",
            "pg_catalog.count(distinct t.attnames::pg_catalog.text)",
        )
    } else {
        ("false", "1")
    };
    format!(
        "select c.oid, {filtered} as filtered, {lists} as lists \
         from pg_catalog.pg_publication_tables t \
         join pg_catalog.pg_namespace n on n.nspname = t.schemaname \
         join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.tablename \
         where t.pubname in ({}) group by c.oid",
        literals(publications)
    )
}

/// A table while its parts arrive from separate queries.
#[derive(Debug)]
struct Draft {
    table: SourceTable,
    /// Columns the publications send, when the release can say.
    sent: Vec<Ident>,
    primary_key: BTreeMap<u32, Ident>,
    /// Columns of the index that identifies old rows, per the current replica identity.
    identity: BTreeMap<u32, Ident>,
}

impl Draft {
    fn finish(mut self, version_num: u32) -> SourceTable {
        let all = |columns: &[TableColumn]| -> Vec<Ident> {
            columns.iter().map(|column| column.name.clone()).collect()
        };
        self.table.primary_key = self.primary_key.into_values().collect();
        self.table.identity_columns = match self.table.replica_identity {
            ReplicaIdentity::Full => all(&self.table.columns),
            ReplicaIdentity::Nothing => Vec::new(),
            ReplicaIdentity::Default | ReplicaIdentity::Index => {
                self.identity.into_values().collect()
            }
        };
        // Without a column list a server sends every column it does not compute.
        let plain: Vec<Ident> = self
            .table
            .columns
            .iter()
            .filter(|column| column.generated != Generated::Expression)
            .map(|column| column.name.clone())
            .collect();
        let listed = version_num >= FILTERS_RELEASE && self.sent != plain;
        self.table.column_list = listed.then_some(self.sent);
        self.table
    }
}

async fn read_table_rows(
    replication: &mut Replication,
    listed: &str,
) -> Result<HashMap<u32, Draft>, Error> {
    let sql = format!(
        "select c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relreplident, \
         l.filtered, l.lists, pg_catalog.has_table_privilege(c.oid, 'select') \
         and pg_catalog.has_schema_privilege(n.oid, 'usage') as selectable \
         from ({listed}) l join pg_catalog.pg_class c on c.oid = l.oid \
         join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    );
    let answer = ask(replication, &sql, DOING).await?;
    let mut tables = HashMap::with_capacity(answer.len());
    for row in answer.rows() {
        let draft = read_table(&row)?;
        tables.insert(draft.table.oid, draft);
    }
    Ok(tables)
}

fn read_table(row: &Row<'_>) -> Result<Draft, Error> {
    let failed = while_doing(DOING);
    let text = |column| row.text(column).map_err(&failed);
    let table = QualifiedName {
        schema: name(text("nspname")?, DOING)?,
        name: name(text("relname")?, DOING)?,
    };
    if row.required::<u64>("lists").map_err(&failed)? > 1 {
        return Err(Error::new(
            Reason::PublicationColumnListsDiffer,
            Site::table(&table),
        ));
    }
    let letter = text("relreplident")?.and_then(|text| text.bytes().next());
    let replica_identity = letter.and_then(ReplicaIdentity::from_letter);
    Ok(Draft {
        table: SourceTable {
            oid: row.required("oid").map_err(&failed)?,
            name: table,
            kind: match text("relkind")? {
                Some("r") => TableKind::Table,
                Some("p") => TableKind::Partitioned,
                _ => TableKind::Other,
            },
            unlogged: text("relpersistence")? == Some("u"),
            replica_identity: replica_identity.ok_or_else(|| unexpected(DOING))?,
            columns: Vec::new(),
            primary_key: Vec::new(),
            identity_columns: Vec::new(),
            column_list: None,
            row_filter: row.flag("filtered").map_err(&failed)?,
            selectable: row.flag("selectable").map_err(&failed)?,
        },
        sent: Vec::new(),
        primary_key: BTreeMap::new(),
        identity: BTreeMap::new(),
    })
}

async fn read_columns(
    replication: &mut Replication,
    only_oids: &str,
    version_num: u32,
    publications: &[Ident],
    types: &Types,
    tables: &mut HashMap<u32, Draft>,
) -> Result<(), Error> {
    let failed = while_doing(DOING);
    // A list of NULL means that every column the release publishes is sent.
    let sent = if version_num >= FILTERS_RELEASE {
        format!(
            "exists (select from pg_catalog.pg_publication_tables t \
             join pg_catalog.pg_namespace n on n.nspname = t.schemaname \
             join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.tablename \
             where t.pubname in ({}) and c.oid = a.attrelid and \
             (a.attname = any (t.attnames) or t.attnames is null and a.attgenerated = ''))",
            literals(publications)
        )
    } else {
        "a.attgenerated = ''".to_owned()
    };
    let sql = format!(
        "select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, \
         a.attgenerated, a.attidentity, {sent} as sent from pg_catalog.pg_attribute a \
         where a.attrelid in ({only_oids}) and a.attnum > 0 and not a.attisdropped \
         order by a.attrelid, a.attnum"
    );
    let answer = ask(replication, &sql, DOING).await?;
    for row in answer.rows() {
        // A table that was created between two queries is seen by the next check.
        let Some(draft) = tables.get_mut(&row.required("attrelid").map_err(&failed)?) else {
            continue;
        };
        let column = TableColumn {
            attnum: row.required("attnum").map_err(&failed)?,
            name: name(row.text("attname").map_err(&failed)?, DOING)?,
            ty: types.resolve(
                row.required("atttypid").map_err(&failed)?,
                row.required("atttypmod").map_err(&failed)?,
            )?,
            not_null: row.flag("attnotnull").map_err(&failed)?,
            generated: generated(
                row.text("attgenerated").map_err(&failed)?,
                row.text("attidentity").map_err(&failed)?,
            )
            .ok_or_else(|| unexpected(DOING))?,
        };
        if row.flag("sent").map_err(&failed)? {
            draft.sent.push(column.name.clone());
        }
        draft.table.columns.push(column);
    }
    Ok(())
}

fn generated(attgenerated: Option<&str>, attidentity: Option<&str>) -> Option<Generated> {
    Some(match (attgenerated?, attidentity?) {
        ("", "") => Generated::No,
        ("", "a") => Generated::IdentityAlways,
        ("", "d") => Generated::IdentityByDefault,
        // Stored, and from PostgreSQL 18 on virtual.
        ("s" | "v", "") => Generated::Expression,
        _ => return None,
    })
}

async fn read_keys(
    replication: &mut Replication,
    only_oids: &str,
    tables: &mut HashMap<u32, Draft>,
) -> Result<(), Error> {
    let failed = while_doing(DOING);
    // Under the default identity the server uses the primary key unless it is deferrable.
    let sql = format!(
        "select i.indrelid, i.indisprimary, \
         case c.relreplident when 'd' then i.indisprimary and i.indimmediate and i.indisvalid \
         when 'i' then i.indisreplident and i.indisvalid else false end as identifies, \
         k.position, a.attname \
         from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indrelid \
         cross join lateral pg_catalog.unnest(i.indkey) with ordinality k(attnum, position) \
         join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum \
         where (i.indisprimary or i.indisreplident) and k.position <= i.indnkeyatts \
         and i.indrelid in ({only_oids})"
    );
    let answer = ask(replication, &sql, DOING).await?;
    for row in answer.rows() {
        let Some(draft) = tables.get_mut(&row.required("indrelid").map_err(&failed)?) else {
            continue;
        };
        let position: u32 = row.required("position").map_err(&failed)?;
        let column = name(row.text("attname").map_err(&failed)?, DOING)?;
        if row.flag("indisprimary").map_err(&failed)? {
            draft.primary_key.insert(position, column.clone());
        }
        if row.flag("identifies").map_err(&failed)? {
            draft.identity.insert(position, column);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_without_filters_is_not_asked_for_them() {
        let publications = [Ident::new("p").unwrap()];
        for column in ["attnames", "rowfilter"] {
            assert!(!listed_sql(140_023, &publications).contains(column));
            assert!(listed_sql(150_018, &publications).contains(column));
        }
    }

    #[test]
    fn every_way_a_column_computes_itself_is_known() {
        assert_eq!(generated(Some(""), Some("")), Some(Generated::No));
        assert_eq!(generated(Some("s"), Some("")), Some(Generated::Expression));
        assert_eq!(generated(Some("v"), Some("")), Some(Generated::Expression));
        assert_eq!(
            generated(Some(""), Some("a")),
            Some(Generated::IdentityAlways)
        );
        assert_eq!(
            generated(Some(""), Some("d")),
            Some(Generated::IdentityByDefault)
        );
        assert_eq!(generated(Some("x"), Some("")), None);
        assert_eq!(generated(None, Some("")), None);
    }
}
