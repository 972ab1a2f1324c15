//! Where does a benchmark run? Two private clusters, one database per workload on the source, a fresh copy of the
//! destination per run.
//!
//! Two clusters, not two databases of one, because a pipeline usually crosses machines and because the two sides
//! must not share a checkpointer or a WAL. Both write durably. A slot called `backlog` is created before the backlog
//! is written and never consumed; every run gets a copy of it, so that every run is served the very same WAL.

use std::time::{Duration, Instant};

use replicant_shop::schema;
use replicant_test_servers::{Cluster, ClusterBuilder, Durability, Installation, wait_for_true};
use tokio_postgres::Client;

use super::workload::{MARKER, Workload};
use crate::run::Failure;
use crate::shop_process::Ends;

const PRISTINE_SLOT: &str = "backlog";
const TEMPLATE: &str = "destination_template";
/// How often arrival is looked for: a small part of the shortest run.
const RESOLUTION: Duration = Duration::from_millis(4);
const DEADLINE: Duration = Duration::from_secs(300);

/// When the session of the walsender that streams slot `$1` began, by the server's clock; no row while nobody does.
pub(crate) const WALSENDER_START: &str = "select extract(epoch from a.backend_start)::float8 \
     from pg_catalog.pg_replication_slots s \
     join pg_catalog.pg_stat_activity a on a.pid = s.active_pid where s.slot_name = $1";

/// Settings of both clusters besides the defaults, printed with the results.
const SETTINGS: [(&str, &str); 6] = [
    ("shared_buffers", "256MB"),
    ("max_wal_size", "8GB"),
    ("checkpoint_timeout", "30min"),
    ("track_commit_timestamp", "on"),
    // The default makes a second subscription wait for five seconds before it starts.
    ("wal_retrieve_retry_interval", "100ms"),
    ("autovacuum", "off"),
];

pub(crate) struct Arena {
    pub(crate) source: Cluster,
    pub(crate) destination: Cluster,
}

/// A source database whose backlog is written.
pub(crate) struct Prepared {
    pub(crate) workload: Workload,
    pub(crate) database: String,
    pub(crate) client: Client,
    /// Where the backlog ends.
    pub(crate) end_lsn: String,
}

/// One run's fresh destination and its copy of the slot.
pub(crate) struct Run {
    pub(crate) database: String,
    pub(crate) slot: String,
    pub(crate) client: Client,
}

impl Arena {
    pub(crate) fn open(installation: &Installation) -> Result<Self, Failure> {
        let cluster = || {
            SETTINGS
                .iter()
                .fold(
                    ClusterBuilder::new(installation),
                    |builder, (name, value)| builder.setting(name, value),
                )
                .durability(Durability::PowerFailure)
                .start()
        };
        Ok(Self {
            source: cluster()?,
            destination: cluster()?,
        })
    }

    pub(crate) fn settings() -> String {
        SETTINGS
            .map(|(name, value)| format!("{name}={value}"))
            .join(" ")
    }

    /// Writes base rows and backlog on the source, and base rows into the destination's template.
    pub(crate) async fn prepare(&self, workload: Workload) -> Result<Prepared, Failure> {
        let database = format!("source_{}", workload.name);
        self.source.create_database(&database).await?;
        let client = self.source.connect(&database).await?;
        schema::create_source(&client).await?;
        // A subscription insists on having every published table, so it gets a publication without the ignored one.
        // It has to exist before the slot: the past is decoded with the catalogs of the past.
        client
            .batch_execute(
                "create publication native for table customers, products, orders, order_lines",
            )
            .await?;
        client.batch_execute(workload.keeps.source()).await?;
        client.batch_execute(&workload.base()).await?;
        client
            .query(
                "select pg_catalog.pg_create_logical_replication_slot($1, 'pgoutput')",
                &[&PRISTINE_SLOT],
            )
            .await?;
        client.batch_execute("set synchronous_commit = off").await?;
        client.batch_execute(&workload.backlog()).await?;
        client.batch_execute(&workload.marker()).await?;
        let end_lsn: String = client
            .query_one("select pg_catalog.pg_current_wal_insert_lsn()::text", &[])
            .await?
            .get(0);
        client.batch_execute("vacuum analyze").await?;

        let admin = self.destination.connect("postgres").await?;
        admin
            .batch_execute(&format!("drop database if exists {TEMPLATE}"))
            .await?;
        self.destination.create_database(TEMPLATE).await?;
        let template = self.destination.connect(TEMPLATE).await?;
        schema::create_destination(&template).await?;
        template
            .batch_execute(&workload.keeps.destination())
            .await?;
        template.batch_execute(&workload.base()).await?;
        template.batch_execute(&workload.keeps.base()).await?;
        template.batch_execute("vacuum analyze").await?;
        Ok(Prepared {
            workload,
            database,
            client,
            end_lsn,
        })
    }

    /// A fresh destination, a copy of the slot, and both servers with nothing left to write.
    pub(crate) async fn run(&self, prepared: &Prepared, slot: &str) -> Result<Run, Failure> {
        let database = format!("run_{}", prepared.workload.name);
        let admin = self.destination.connect("postgres").await?;
        // The template's own session has to be gone before it can be copied.
        wait_for_true(
            &admin,
            "select not exists (select from pg_catalog.pg_stat_activity where datname in \
             ('destination_template', 'x'))",
            Duration::from_secs(10),
        )
        .await?;
        admin
            .batch_execute(&format!("create database {database} template {TEMPLATE}"))
            .await?;
        let client = self.destination.connect(&database).await?;
        // Whoever looks for the arrival must not read the whole table each time: its plan is made while it is empty.
        client.batch_execute("set enable_seqscan = off").await?;
        prepared
            .client
            .query(
                "select pg_catalog.pg_copy_logical_replication_slot($1, $2)",
                &[&PRISTINE_SLOT, &slot],
            )
            .await?;
        client.batch_execute("checkpoint").await?;
        prepared.client.batch_execute("checkpoint").await?;
        Ok(Run {
            database,
            slot: slot.to_owned(),
            client,
        })
    }

    /// Where one of Replicant's pipelines reads and writes in a run.
    pub(crate) async fn ends(
        &self,
        prepared: &Prepared,
        run: &Run,
        pipeline: &'static str,
    ) -> Result<Ends, Failure> {
        Ok(Ends {
            pipeline,
            source: self.source.conninfo(&prepared.database),
            destination: self.destination.conninfo(&run.database),
            source_identity: self.source.source_identity(&prepared.database).await?,
            constraints: prepared.workload.constraints,
        })
    }

    /// Removes a run's slot and destination.
    pub(crate) async fn finish(&self, prepared: &Prepared, run: Run) -> Result<(), Failure> {
        let Run {
            database,
            slot,
            client,
        } = run;
        drop(client);
        let idle = format!(
            "select not coalesce(bool_or(active), false) from pg_catalog.pg_replication_slots where slot_name = '{slot}'"
        );
        wait_for_true(&prepared.client, &idle, Duration::from_secs(30)).await?;
        prepared
            .client
            .query(
                "select pg_catalog.pg_drop_replication_slot(slot_name) from pg_catalog.pg_replication_slots \
                 where slot_name = $1",
                &[&slot],
            )
            .await?;
        let admin = self.destination.connect("postgres").await?;
        let idle = format!(
            "select not exists (select from pg_catalog.pg_stat_activity where datname = '{database}')"
        );
        wait_for_true(&admin, &idle, Duration::from_secs(30)).await?;
        admin
            .batch_execute(&format!("drop database {database}"))
            .await?;
        Ok(())
    }

    /// Drops the source database of a workload that is done.
    pub(crate) async fn close(&self, prepared: Prepared) -> Result<(), Failure> {
        let Prepared {
            database, client, ..
        } = prepared;
        client
            .query(
                "select pg_catalog.pg_drop_replication_slot($1)",
                &[&PRISTINE_SLOT],
            )
            .await?;
        drop(client);
        let admin = self.source.connect("postgres").await?;
        let idle = format!(
            "select not exists (select from pg_catalog.pg_stat_activity where datname = '{database}')"
        );
        wait_for_true(&admin, &idle, Duration::from_secs(30)).await?;
        admin
            .batch_execute(&format!("drop database {database}"))
            .await?;
        Ok(())
    }
}

/// Seconds from the start of the walsender's session on the source to the arrival of the marker on the destination.
///
/// Arrival is when a session of the destination sees the row in `arrival`, which follows `from`, by the clock that both
/// servers share. Commit timestamps would be finer and are of no use: a subscription's worker commits with the timestamp of
/// the source.
pub(crate) async fn clock(
    prepared: &Prepared,
    run: &Run,
    arrival: &str,
    mut check: impl FnMut() -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let started = prepared.client.prepare(WALSENDER_START).await?;
    let arrived =
        format!("select extract(epoch from pg_catalog.clock_timestamp())::float8 from {arrival}");
    let arrived = run.client.prepare(&arrived).await?;
    let mut start: Option<f64> = None;
    let deadline = Instant::now() + DEADLINE;
    while Instant::now() < deadline {
        check()?;
        if start.is_none() {
            let row = prepared.client.query_opt(&started, &[&run.slot]).await?;
            start = row.map(|row| row.get(0));
        }
        if let Some(row) = run.client.query_opt(&arrived, &[&MARKER]).await?
            && let Some(start) = start
        {
            let end: f64 = row.get(0);
            return Ok(end - start);
        }
        tokio::time::sleep(RESOLUTION).await;
    }
    Err(Failure::Failed(
        "the backlog did not arrive in time".to_owned(),
    ))
}
