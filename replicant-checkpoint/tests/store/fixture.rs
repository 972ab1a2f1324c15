//! What every test starts with: a store in a schema of its own, sessions, keys and small contracts.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use replicant_checkpoint::contract::manifest::{
    Holding, Manifest, Provenance, Relation, Stream, Table, Tenants,
};
use replicant_checkpoint::contract::resource::{IdentityReach, OnSchemaChange, OnTruncate};
use replicant_checkpoint::contract::sink::{CheckpointSpec, SinkKind};
use replicant_checkpoint::store::{Binding, Bound, Holds, Key, Mapped, Standing, Store};
use replicant_transport::ident::{Ident, QualifiedName, SlotName};
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, WalEnd};
use replicant_transport::source::{Slot, SlotProvenance};
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, NoTls};

use crate::server;

/// A session with pinned settings and the task that drives it.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) pid: i32,
    driver: JoinHandle<()>,
}

impl Session {
    /// Cuts the connection: nothing that was not sent yet will be, no answer will be heard.
    pub(crate) fn cut(&self) {
        self.driver.abort();
    }
}

/// A fresh schema, migrated.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) schema: &'static str,
    pub(crate) key: Key,
    pub(crate) manifest: Manifest,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let fixture = Self::unmigrated(None).await;
        let mut session = fixture.session().await;
        fixture.store.migrate(&mut session.client).await.unwrap();
        fixture
    }

    pub(crate) async fn unmigrated(select_grant: Option<&'static str>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        // The name needs quoting, so that a statement that forgets to quote fails.
        let schema: &'static str = Box::leak(format!("Check point {number}").into_boxed_str());
        let store = Store::new(&CheckpointSpec {
            schema,
            select_grant,
        })
        .unwrap();
        Self {
            store,
            schema,
            key: key("7431250023019842563/shop", "shop_orders"),
            manifest: manifest(&["orders"]),
        }
    }

    pub(crate) async fn session(&self) -> Session {
        self.session_as("postgres").await
    }

    pub(crate) async fn session_as(&self, user: &str) -> Session {
        let socket = server::socket().to_str().unwrap();
        let config = format!("host={socket} user='{user}' dbname=postgres");
        let (client, mut connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
        let warnings = self.store.warnings();
        let driver = tokio::spawn(async move {
            let poll = |cx: &mut std::task::Context<'_>| connection.poll_message(cx);
            let mut poll = poll;
            while let Some(message) = std::future::poll_fn(&mut poll).await {
                match message {
                    Ok(AsyncMessage::Notice(notice)) => warnings.notice(&notice),
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        });
        // Only the tests about synchronous replication wait for a standby.
        client
            .batch_execute(
                "set search_path = ''; set lock_timeout = '60s'; set synchronous_commit = local",
            )
            .await
            .unwrap();
        let pid = one(&client, "select pg_catalog.pg_backend_pid()").await;
        Session {
            client,
            pid,
            driver,
        }
    }

    pub(crate) fn binding<'a>(&'a self, owner: &'a str) -> Binding<'a> {
        Binding {
            key: &self.key,
            timeline: 1,
            wal_end: WalEnd::new(Lsn::new(1_000_000)),
            manifest: &self.manifest,
            targets: &[],
            owner,
            standing: Standing::LockHolder,
        }
    }

    /// Bound by this owner.
    pub(crate) async fn bound(&self, client: &mut Client, owner: &str) -> Bound {
        self.store.bind(client, &self.binding(owner)).await.unwrap()
    }

    /// Bound and positioned: acked end 1000, watermark 999.
    pub(crate) async fn started(&self, client: &mut Client, owner: &str) -> Bound {
        let bound = self.bound(client, owner).await;
        let slot = self.slot(1000, SlotProvenance::Reused);
        self.store.origin(client, &bound, &slot, &[]).await.unwrap();
        bound
    }

    pub(crate) fn slot(&self, origin: u64, provenance: SlotProvenance) -> Slot {
        Slot {
            name: self.key.slot.clone(),
            origin: end(origin),
            provenance,
        }
    }

    /// A destination table in the fixture's schema, empty, mapped from `public` with these columns.
    pub(crate) async fn mapped(
        &self,
        client: &Client,
        table: &str,
        source_oid: u32,
        columns: &[(&str, i16)],
    ) -> Mapped {
        let target = QualifiedName::new(self.schema, table).unwrap();
        client
            .batch_execute(&format!(
                "create table if not exists {} (id int)",
                target.quoted()
            ))
            .await
            .unwrap();
        let columns = columns.iter();
        Mapped {
            source: QualifiedName::new("public", table).unwrap(),
            source_oid,
            columns: columns
                .map(|(name, attnum)| (Ident::new(name).unwrap(), *attnum))
                .collect(),
            held_in: vec![target.clone()],
            target,
            holds: Holds::Rows,
        }
    }

    /// A table of this test for mirrored rows.
    pub(crate) async fn rows_table(&self, client: &Client) -> String {
        let table = format!("\"{}\".rows", self.schema);
        client
            .batch_execute(&format!("create table {table} (lsn pg_catalog.int8)"))
            .await
            .unwrap();
        table
    }

    /// `"schema".table`.
    pub(crate) fn table(&self, name: &str) -> String {
        format!("\"{}\".{name}", self.schema)
    }

    /// The stored positions, read without a lock.
    pub(crate) async fn positions(&self, client: &Client) -> (Option<i64>, Option<i64>) {
        let sql = format!(
            "select watermark, acked_end from {}",
            self.table("replicant_watermarks")
        );
        let row = client.query_one(&sql, &[]).await.unwrap();
        (row.get(0), row.get(1))
    }
}

pub(crate) fn key(source: &str, slot: &str) -> Key {
    Key {
        source: source.parse().unwrap(),
        slot: SlotName::new(slot).unwrap(),
    }
}

pub(crate) fn manifest(tables: &[&str]) -> Manifest {
    let table = |schema: &str, name: &str| Table {
        schema: schema.to_owned(),
        table: name.to_owned(),
    };
    Manifest {
        stream: Stream::Pgoutput {
            publications: vec!["shop".to_owned()],
        },
        kind: SinkKind::StateMirror,
        initial_state: None,
        relations: tables
            .iter()
            .map(|name| Relation {
                source: table("public", name),
                target: table("mirror", name),
                holding: Holding::Mirror,
                tenants: Tenants::None,
                columns: Vec::new(),
                skips: Vec::new(),
                key: Vec::new(),
                key_reach: IdentityReach::AllTenants,
                provenance: Provenance::Unmarked,
                hooks: Vec::new(),
                on_truncate: OnTruncate::Halt,
                on_schema_change: OnSchemaChange::HaltDestructive,
            })
            .collect(),
        ignores: Vec::new(),
        routes: Vec::new(),
        ignored_prefixes: Vec::new(),
    }
}

pub(crate) fn commit(lsn: u64) -> CommitLsn {
    CommitLsn::new(Lsn::new(lsn))
}

pub(crate) fn end(lsn: u64) -> EndLsn {
    EndLsn::new(Lsn::new(lsn))
}

pub(crate) fn name(table: &str) -> QualifiedName {
    QualifiedName::parse(table).unwrap()
}

pub(crate) async fn one<T>(client: &Client, sql: &str) -> T
where
    T: for<'a> tokio_postgres::types::FromSql<'a>,
{
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Waits until a query answers true.
pub(crate) async fn until(client: &Client, sql: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !one::<bool>(client, sql).await {
        assert!(Instant::now() < deadline, "never true: {sql}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until this backend waits for a lock.
pub(crate) async fn until_blocked(client: &Client, pid: i32) {
    let sql = format!("select pg_catalog.cardinality(pg_catalog.pg_blocking_pids({pid})) > 0");
    until(client, &sql).await;
}
