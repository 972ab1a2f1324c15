//! Which servers and databases does the demo play on?

use std::time::Duration;

use replicant_shop::schema;
use replicant_test_servers::{Cluster, ClusterBuilder, Installation, wait_for_true};
use tokio_postgres::Client;

use crate::run::Failure;

const SHOP: &str = "shop";
const MIRROR: &str = "mirror";
const START: Duration = Duration::from_secs(60);

/// Two private servers: the shop's and its mirror's.
pub(super) struct Stage {
    source_cluster: Cluster,
    mirror_cluster: Cluster,
    pub(super) source: Client,
    pub(super) mirror: Client,
    /// `<system identifier>/<database>` of the shop.
    pub(super) identity: String,
    pub(super) version: String,
}

impl Stage {
    pub(super) async fn open(installation: &Installation) -> Result<Self, Failure> {
        let cluster = || {
            ClusterBuilder::new(installation)
                .setting("track_commit_timestamp", "on")
                .start()
        };
        let (source_cluster, mirror_cluster) = (cluster()?, cluster()?);
        source_cluster.create_database(SHOP).await?;
        mirror_cluster.create_database(MIRROR).await?;
        let source = source_cluster.connect(SHOP).await?;
        let mirror = mirror_cluster.connect(MIRROR).await?;
        schema::create_source(&source).await?;
        schema::create_destination(&mirror).await?;
        let identity = source_cluster.source_identity(SHOP).await?;
        Ok(Self {
            source_cluster,
            mirror_cluster,
            source,
            mirror,
            identity,
            version: installation.version().to_owned(),
        })
    }

    pub(super) fn source_conninfo(&self) -> String {
        self.source_cluster.conninfo(SHOP)
    }

    pub(super) fn mirror_conninfo(&self) -> String {
        self.mirror_cluster.conninfo(MIRROR)
    }

    /// Returns when somebody streams from the sink's slot.
    pub(super) async fn streaming(&self) -> Result<(), Failure> {
        wait_for_true(
            &self.source,
            "select bool_or(active) from pg_catalog.pg_replication_slots",
            START,
        )
        .await?;
        Ok(())
    }

    /// One last row, negative so that no session of the traffic owns it.
    pub(super) async fn write_marker(&self) -> Result<i64, Failure> {
        let row = self
            .source
            .query_one(
                "insert into public.products values (-1, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', \
                 'closing time', 0, 0, false, pg_catalog.now(), null) returning id",
                &[],
            )
            .await?;
        Ok(row.get(0))
    }

    pub(super) async fn has_marker(&self, marker: i64) -> Result<bool, Failure> {
        let row = self
            .mirror
            .query_opt("select from public.products where id = $1", &[&marker])
            .await?;
        Ok(row.is_some())
    }

    /// Leaves both servers running and says how to reach and stop them.
    pub(super) fn keep(self) {
        let (source, mirror) = (self.source_conninfo(), self.mirror_conninfo());
        for (what, conninfo, cluster) in [
            ("shop", source, self.source_cluster),
            ("mirror", mirror, self.mirror_cluster),
        ] {
            let directory = cluster.directory().display().to_string();
            if let Some(process) = cluster.keep() {
                eprintln!(
                    "{what}: psql '{conninfo}'   stop it with: kill {process}; rm -r {directory}"
                );
            }
        }
    }
}
