//! What must a history or a log hold? Told by the source itself: triggers write every change of a table, whole rows
//! and in order, into a journal, and the source's WAL says which transaction each entry belongs to.
//!
//! The journal knows nothing of replica identities or unchanged values, so it judges what they are made into.

use std::collections::BTreeMap;

use tokio_postgres::Client;

use crate::World;
use crate::ledger::{Ledger, Recorded};

/// The table that triggers write; a published table that tests ignore.
pub const JOURNAL: &str = "journal";

/// The journal and what writes it. A row is the text of its columns, which are the trigger's arguments; long ones are
/// noted as their digest.
const DDL: &str = "create table journal (seq bigserial primary key, tab text not null, op text not null, \
        old text[], new text[]); \
    create function noted(j jsonb, columns text[]) returns text[] language sql stable as $$ \
        select array_agg(case when length(j ->> c) > 100 then md5(j ->> c) else j ->> c end order by place) \
        from unnest(columns) with ordinality as u (c, place) $$; \
    create function note() returns trigger language plpgsql as $$ declare o text[]; n text[]; begin \
        if tg_op in ('UPDATE', 'DELETE') then o := noted(to_jsonb(old), tg_argv); end if; \
        if tg_op in ('UPDATE', 'INSERT') then n := noted(to_jsonb(new), tg_argv); end if; \
        insert into journal (tab, op, old, new) values (tg_table_name, lower(tg_op), o, n); return null; end $$;";

/// One change of a row, or a truncate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The table.
    pub table: String,
    /// insert, update, delete or truncate.
    pub operation: String,
    /// The row before, in the table's column order.
    pub old: Option<Vec<Option<String>>>,
    /// The row afterwards.
    pub new: Option<Vec<Option<String>>>,
}

/// One source transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// START of its commit record.
    pub commit_lsn: i64,
    /// Its changes in order.
    pub entries: Vec<Entry>,
}

/// A version of a row and its window.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    /// Its columns.
    pub row: Vec<Option<String>>,
    /// Commit LSN that opened it.
    pub from: i64,
    /// Commit LSN that closed it.
    pub to: Option<i64>,
}

/// Every change of some tables since it was opened.
#[derive(Debug)]
pub struct Journal {
    ledger: Ledger,
    /// What was read so far.
    pub transactions: Vec<Transaction>,
}

impl Journal {
    /// Notes every change of these columns of tables from now on.
    ///
    /// # Panics
    /// When the source refuses.
    pub async fn open(world: &World, tables: &[(&str, &[&str])]) -> Self {
        world.run(DDL).await;
        for (table, columns) in tables {
            let columns = columns.join(", ");
            world
                .run(&format!(
                    "create trigger note after insert or update or delete on {table} \
                     for each row execute function note({columns}); \
                     create trigger note_all after truncate on {table} \
                     for each statement execute function note()"
                ))
                .await;
        }
        Self {
            ledger: Ledger::of_tables(&world.source, JOURNAL).await,
            transactions: Vec::new(),
        }
    }

    /// Reads what was committed since the last time.
    ///
    /// # Panics
    /// When the source refuses.
    pub async fn read(&mut self, source: &Client) {
        for recorded in self.ledger.read(source).await {
            self.transactions.push(transaction(&recorded));
        }
    }

    /// Every version of the rows of a table found by these columns, in order of key and window.
    pub fn versions(&self, table: &str, key: &[usize]) -> Vec<Version> {
        let mut history: BTreeMap<Vec<Option<String>>, Vec<Version>> = BTreeMap::new();
        for transaction in &self.transactions {
            let at = transaction.commit_lsn;
            for entry in transaction.entries.iter().filter(|one| one.table == table) {
                let key_of = |row: &[Option<String>]| -> Vec<Option<String>> {
                    key.iter().map(|column| row[*column].clone()).collect()
                };
                if entry.operation == "truncate" {
                    for version in history.values_mut().flatten() {
                        version.to.get_or_insert(at);
                    }
                }
                let kept = match (&entry.old, &entry.new) {
                    (Some(old), Some(new)) => key_of(old) == key_of(new),
                    _ => false,
                };
                if let Some(old) = &entry.old
                    && let Some(last) = history.get_mut(&key_of(old)).and_then(|of| of.last_mut())
                    && !(kept && last.from == at)
                {
                    last.to.get_or_insert(at);
                }
                if let Some(new) = &entry.new {
                    let of_key = history.entry(key_of(new)).or_default();
                    // One transaction makes one version of a key.
                    if of_key.last().is_some_and(|last| last.from == at) {
                        of_key.pop();
                    }
                    of_key.push(Version {
                        row: new.clone(),
                        from: at,
                        to: None,
                    });
                }
            }
        }
        let mut versions: Vec<Version> = history.into_values().flatten().collect();
        versions.sort();
        versions
    }
}

/// The row of `t` as the journal notes these columns, in SQL.
pub fn noted(columns: &[&str]) -> String {
    let list: Vec<String> = columns
        .iter()
        .map(|column| {
            let text = format!("to_jsonb(t) ->> '{column}'");
            format!("case when length({text}) > 100 then md5({text}) else {text} end")
        })
        .collect();
    format!("array[{}]", list.join(", "))
}

/// The versions that a history holds, its columns in the order given.
///
/// # Panics
/// When the table cannot be read.
pub async fn stored_versions(client: &Client, table: &str, columns: &[&str]) -> Vec<Version> {
    let row = noted(columns);
    let query = format!("select {row}, valid_from_lsn, valid_to_lsn from {table} t");
    let rows = client.query(&query, &[]).await.unwrap();
    let mut versions: Vec<Version> = rows
        .iter()
        .map(|row| Version {
            row: row.get(0),
            from: row.get(1),
            to: row.get(2),
        })
        .collect();
    versions.sort();
    versions
}

/// The same of a history that has one of the columns sealed, as `encrypted_` and its name: `open` tells what an envelope
/// holds, given the other columns of its row.
///
/// # Panics
/// When the table cannot be read.
pub async fn opened_versions(
    client: &Client,
    table: &str,
    (columns, sealed): (&[&str], usize),
    open: impl Fn(&[Option<String>], &[u8]) -> String,
) -> Vec<Version> {
    let row = noted(columns);
    let column = columns[sealed];
    let query =
        format!("select {row}, valid_from_lsn, valid_to_lsn, encrypted_{column} from {table} t");
    let mut versions = Vec::new();
    let mut digests: BTreeMap<String, String> = BTreeMap::new();
    for found in client.query(&query, &[]).await.unwrap() {
        let mut row: Vec<Option<String>> = found.get(0);
        let envelope: Option<Vec<u8>> = found.get(3);
        let mut value = envelope.map(|envelope| open(&row, &envelope));
        if let Some(long) = value.as_mut().filter(|value| value.len() > 100) {
            if !digests.contains_key(long) {
                let digest = client.query_one("select md5($1)", &[&*long]).await;
                digests.insert(long.clone(), digest.unwrap().get(0));
            }
            long.clone_from(&digests[long]);
        }
        row[sealed] = value;
        versions.push(Version {
            row,
            from: found.get(1),
            to: found.get(2),
        });
    }
    versions.sort();
    versions
}

fn transaction(recorded: &Recorded) -> Transaction {
    let entries = recorded.changes.iter().map(|change| {
        let row = change.new.as_ref().unwrap();
        Entry {
            table: row[1].clone().unwrap(),
            operation: row[2].clone().unwrap(),
            old: row[3].as_deref().map(array),
            new: row[4].as_deref().map(array),
        }
    });
    Transaction {
        commit_lsn: i64::try_from(recorded.commit_lsn).unwrap(),
        entries: entries.collect(),
    }
}

/// A one-dimensional array as the server writes it.
fn array(text: &str) -> Vec<Option<String>> {
    let inner = text.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
    let mut items = Vec::new();
    let mut characters = inner.chars().peekable();
    while characters.peek().is_some() {
        let mut item = String::new();
        let quoted = characters.next_if_eq(&'"').is_some();
        while let Some(character) = characters.next() {
            match character {
                '\\' => item.extend(characters.next()),
                '"' if quoted => {
                    characters.next_if_eq(&',');
                    break;
                }
                ',' if !quoted => break,
                other => item.push(other),
            }
        }
        items.push(if !quoted && item == "NULL" {
            None
        } else {
            Some(item)
        });
    }
    items
}
