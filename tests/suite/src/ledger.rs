//! What did a server really commit, in which order and how often? Read from its own WAL, which nobody can edit.
//!
//! A second logical slot on a database is an append-only record of every row change in every committed transaction,
//! rolled back savepoints excluded. Comparing the destination's record with the source's says more than comparing
//! rows: a change applied twice leaves the same rows and two entries.

use std::collections::HashMap;

use bytes::Bytes;
use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::OldRow;
use replicant_transport::wire::{self, Message};
use tokio_postgres::Client;

const SLOT_SUFFIX: &str = "_ledger";

/// One committed transaction of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// START of its commit record.
    pub commit_lsn: u64,
    /// END of its commit record.
    pub end_lsn: u64,
    /// What it did, in order.
    pub changes: Vec<RecordedChange>,
}

/// One row change. Images are the server's text, NULL and unchanged values are `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedChange {
    /// Name of the table without its schema.
    pub table: String,
    /// The row before, as far as the server told.
    pub old: Option<Vec<Option<String>>>,
    /// The row afterwards.
    pub new: Option<Vec<Option<String>>>,
}

impl Recorded {
    /// Its changes of one table.
    pub fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a RecordedChange> {
        self.changes
            .iter()
            .filter(move |change| change.table == table)
    }
}

/// The record of one database, from its creation on.
#[derive(Debug)]
pub struct Ledger {
    slot: String,
    publication: String,
    relations: HashMap<u32, String>,
}

impl Ledger {
    /// Starts recording everything that commits in the client's database from now on.
    ///
    /// # Panics
    /// When the server refuses.
    pub async fn of_everything(client: &Client) -> Self {
        Self::open(client, "for all tables").await
    }

    /// Starts recording these tables, separated by commas.
    ///
    /// # Panics
    /// When the server refuses.
    pub async fn of_tables(client: &Client, tables: &str) -> Self {
        Self::open(client, &format!("for table {tables}")).await
    }

    async fn open(client: &Client, what: &str) -> Self {
        let database: String = client
            .query_one("select current_database()::text", &[])
            .await
            .unwrap()
            .get(0);
        let slot = format!("{database}{SLOT_SUFFIX}");
        let publication = "ledger".to_owned();
        client
            .batch_execute(&format!("create publication {publication} {what}"))
            .await
            .unwrap();
        client
            .query_one(
                "select pg_create_logical_replication_slot($1, 'pgoutput')::text",
                &[&slot],
            )
            .await
            .unwrap();
        Self {
            slot,
            publication,
            relations: HashMap::new(),
        }
    }

    /// Everything that committed since the last reading; transactions without row changes are left out.
    ///
    /// # Panics
    /// When the server refuses.
    pub async fn read(&mut self, client: &Client) -> Vec<Recorded> {
        let rows = client
            .query(
                "select data from pg_logical_slot_get_binary_changes($1, null, null, \
                 'proto_version', '1', 'publication_names', $2)",
                &[&self.slot, &self.publication],
            )
            .await
            .unwrap();
        let mut recorded = Vec::new();
        let mut changes = Vec::new();
        for row in rows {
            let message = wire::decode(Bytes::from(row.get::<_, Vec<u8>>(0))).unwrap();
            match message {
                Message::Relation(relation) => {
                    let name = relation.name.name.as_str().to_owned();
                    self.relations.insert(relation.oid, name);
                }
                Message::Insert(insert) => {
                    changes.push(self.change(insert.relation, None, Some(&insert.new)));
                }
                Message::Update(update) => changes.push(self.change(
                    update.relation,
                    update.old.as_ref(),
                    Some(&update.new),
                )),
                Message::Delete(delete) => {
                    changes.push(self.change(delete.relation, Some(&delete.old), None));
                }
                Message::Commit(commit) if !changes.is_empty() => recorded.push(Recorded {
                    commit_lsn: commit.commit_lsn.lsn().value(),
                    end_lsn: commit.end_lsn.lsn().value(),
                    changes: std::mem::take(&mut changes),
                }),
                _ => {}
            }
        }
        recorded
    }

    fn change(&self, oid: u32, old: Option<&OldRow>, new: Option<&Tuple>) -> RecordedChange {
        let old = old.map(|old| match old {
            OldRow::Key(tuple) | OldRow::Full(tuple) => values(tuple),
        });
        RecordedChange {
            table: self.relations.get(&oid).cloned().unwrap_or_default(),
            old,
            new: new.map(values),
        }
    }
}

fn values(tuple: &Tuple) -> Vec<Option<String>> {
    tuple
        .iter()
        .map(|cell| match cell {
            Cell::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        })
        .collect()
}
