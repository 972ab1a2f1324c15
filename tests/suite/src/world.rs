//! Where does an end-to-end test live? In two fresh databases of a shared throw-away cluster.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_sink::pipeline::{Handle, Pipeline};
use replicant_test_servers::connect::connect;
use replicant_test_servers::{Cluster, ClusterBuilder, Installation, wait_for};
use tokio_postgres::Client;

use crate::specification::Specification;

/// How long anything in a test may take before the test fails.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Schema of the checkpoint tables in every test.
pub const CHECKPOINT_SCHEMA: &str = "replicant";

/// The publication every test reads.
pub const PUBLICATION: &str = "everything";

/// A published table that every test ignores; a row in it moves the watermark past what came before.
pub const NUDGE: &str = "nudge";

static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The cluster that the tests of one process share; it ends with the last of them.
///
/// # Panics
/// When no server can be started.
pub fn shared_cluster() -> Arc<Cluster> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cluster) = shared.upgrade() {
        return cluster;
    }
    // A slot outlives its test: the databases of a process are not dropped before the cluster is.
    let cluster = ClusterBuilder::new(&Installation::selected().unwrap())
        .setting("max_replication_slots", "200")
        .setting("max_wal_senders", "60")
        .setting("max_connections", "200")
        .start();
    let cluster = Arc::new(cluster.unwrap());
    *shared = Arc::downgrade(&cluster);
    cluster
}

/// A source and a destination database with a client each.
pub struct World {
    /// The server the source lives on, and the destination too unless it was given its own.
    pub cluster: Arc<Cluster>,
    /// Where the pipeline finds the source; a test may put a proxy there.
    pub source_conninfo: String,
    /// Where the pipeline finds the destination; a test may put a proxy there.
    pub destination_conninfo: String,
    /// Name of the source database.
    pub source_database: String,
    /// Name of the destination database.
    pub destination_database: String,
    /// A session on the source, as superuser.
    pub source: Client,
    /// A session on the destination, as superuser.
    pub destination: Client,
    /// A slot name no other test uses.
    pub slot: &'static str,
}

impl World {
    /// Two fresh databases on the shared cluster; both statements lists are run, and everything is published.
    ///
    /// # Panics
    /// When the statements fail.
    pub async fn new(source_ddl: &str, destination_ddl: &str) -> Self {
        Self::on(shared_cluster(), source_ddl, destination_ddl).await
    }

    /// The same tables on both sides.
    ///
    /// # Panics
    /// When the statements fail.
    pub async fn same(ddl: &str) -> Self {
        Self::new(ddl, ddl).await
    }

    /// On a cluster of the test's own, which it may stop and kill.
    ///
    /// # Panics
    /// When the statements fail.
    pub async fn on(cluster: Arc<Cluster>, source_ddl: &str, destination_ddl: &str) -> Self {
        let same = Arc::clone(&cluster);
        Self::between(cluster, &same, source_ddl, destination_ddl).await
    }

    /// Between two clusters, each of which the test may stop and kill.
    ///
    /// # Panics
    /// When the statements fail.
    pub async fn between(
        cluster: Arc<Cluster>,
        destination_cluster: &Cluster,
        source_ddl: &str,
        destination_ddl: &str,
    ) -> Self {
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let source_database = format!("source_{number}");
        let destination_database = format!("destination_{number}");
        cluster.create_database(&source_database).await.unwrap();
        destination_cluster
            .create_database(&destination_database)
            .await
            .unwrap();
        let source_conninfo = cluster.conninfo(&source_database);
        let destination_conninfo = destination_cluster.conninfo(&destination_database);
        let source = connect(&source_conninfo).await.unwrap();
        let destination = connect(&destination_conninfo).await.unwrap();
        source.batch_execute(source_ddl).await.unwrap();
        source
            .batch_execute(&format!("create table {NUDGE} (n int)"))
            .await
            .unwrap();
        source
            .batch_execute(&format!("create publication {PUBLICATION} for all tables"))
            .await
            .unwrap();
        destination.batch_execute(destination_ddl).await.unwrap();
        let slot = Box::leak(format!("slot_{number}").into_boxed_str());
        Self {
            cluster,
            source_conninfo,
            destination_conninfo,
            source_database,
            destination_database,
            source,
            destination,
            slot,
        }
    }

    /// A specification that mirrors these tables of schema `public` column by column.
    pub async fn specification(&self, tables: &[&str]) -> Specification {
        Specification::of_tables(&self.destination, self.slot, tables).await
    }

    /// An unstarted pipeline of this specification between the two databases.
    ///
    /// # Panics
    /// When the server does not tell who it is.
    pub async fn pipeline(&self, spec: &'static SinkSpec) -> Pipeline {
        Pipeline::of_spec(spec)
            .source(&self.source_conninfo)
            .destination(&self.destination_conninfo)
            .publication(PUBLICATION)
            .source_identity(
                &self
                    .cluster
                    .source_identity(&self.source_database)
                    .await
                    .unwrap(),
            )
            .go_forward()
    }

    /// The servers' major version, such as 15.
    pub fn major(&self) -> u32 {
        self.cluster.installation().major()
    }

    /// A started pipeline that mirrors these tables and is streaming.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn mirror(&self, tables: &[&str]) -> Handle {
        let spec = self.specification(tables).await.build();
        self.start(spec).await
    }

    /// A started pipeline of this specification that is streaming.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(&self, spec: &'static SinkSpec) -> Handle {
        let mut handle = self.pipeline(spec).await.start().await.unwrap();
        tokio::time::timeout(DEADLINE, handle.ready())
            .await
            .unwrap()
            .unwrap();
        handle
    }

    /// Runs statements on the source, one simple query.
    ///
    /// # Panics
    /// When the source refuses them.
    pub async fn run(&self, sql: &str) {
        self.source.batch_execute(sql).await.unwrap();
    }

    /// Waits until everything committed on the source so far is durable in the destination.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn caught_up(&self) {
        let end: String = self
            .source
            .query_one("select pg_current_wal_insert_lsn()::text", &[])
            .await
            .unwrap()
            .get(0);
        let query = format!(
            "select acked_end >= ('{end}'::pg_lsn - '0/0'::pg_lsn)::bigint \
             from {CHECKPOINT_SCHEMA}.replicant_watermarks where slot = '{}'",
            self.slot
        );
        // A published transaction after everything so far, so that the stream has something to pass at once.
        self.run(&format!("insert into {NUDGE} values (1)")).await;
        let reached = wait_for("the mirror to catch up", DEADLINE, async || {
            let row = self.destination.query_opt(&query, &[]).await.ok()??;
            row.get::<_, Option<bool>>(0).filter(|reached| *reached)
        });
        reached.await.unwrap();
    }

    /// One text value from the destination.
    ///
    /// # Panics
    /// When the query fails or returns no row.
    pub async fn destination_text(&self, query: &str) -> String {
        self.destination.query_one(query, &[]).await.unwrap().get(0)
    }

    /// The stored watermark, as a number; `None` when there is none.
    ///
    /// # Panics
    /// When the checkpoint cannot be read.
    pub async fn watermark(&self) -> Option<i64> {
        let query = format!(
            "select watermark from {CHECKPOINT_SCHEMA}.replicant_watermarks where slot = '{}'",
            self.slot
        );
        self.destination
            .query_opt(&query, &[])
            .await
            .unwrap()
            .and_then(|row| row.get(0))
    }

    /// The stored acknowledged end, as a number; `None` when there is none.
    ///
    /// # Panics
    /// When the checkpoint cannot be read.
    pub async fn acked_end(&self) -> Option<i64> {
        let query = format!(
            "select acked_end from {CHECKPOINT_SCHEMA}.replicant_watermarks where slot = '{}'",
            self.slot
        );
        self.destination
            .query_opt(&query, &[])
            .await
            .unwrap()
            .and_then(|row| row.get(0))
    }

    /// Where the source's WAL ends now, as a number.
    ///
    /// # Panics
    /// When the source does not answer.
    pub async fn source_position(&self) -> i64 {
        let query = "select (pg_current_wal_insert_lsn() - '0/0')::bigint";
        self.source.query_one(query, &[]).await.unwrap().get(0)
    }

    /// Opens the test's own sessions again, after a server was restarted.
    ///
    /// # Panics
    /// When a server cannot be reached.
    pub async fn reconnect(&mut self) {
        self.source = connect(&self.source_conninfo).await.unwrap();
        self.destination = connect(&self.destination_conninfo).await.unwrap();
    }
}
