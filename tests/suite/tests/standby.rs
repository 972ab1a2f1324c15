//! Can a standby be the source, and what does an operator see when the source's `wal_level` sinks?

use std::sync::Arc;
use std::time::Duration;

use replicant_sink::doctor;
use replicant_test_servers::{ClusterBuilder, Installation, Shutdown, wait_for};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{assert_says, has_checkpoint_tables, refused, retrying};
use replicant_tests::setups::BASE;
use replicant_tests::world::{DEADLINE, shared_cluster};

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_a_source_from_16_on_and_is_refused_by_name_before() {
    let installation = Installation::selected().unwrap();
    let mut primary = ClusterBuilder::new(&installation).start().unwrap();
    let standby = primary.standby().unwrap();
    let world = World::on(Arc::new(primary), BASE, BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let conninfo = standby.conninfo(&world.source_database);
    let followed = wait_for("the standby to follow", DEADLINE, async || {
        let follower = replicant_test_servers::connect::connect(&conninfo)
            .await
            .ok()?;
        let query = "select from pg_publication where pubname = 'everything'";
        follower.query_opt(query, &[]).await.ok()?
    });
    followed.await.unwrap();
    let pipeline = world.pipeline(spec).await.source(&conninfo);
    if world.major() < 16 {
        let error = refused(&pipeline).await;
        let help = ["Connect to the primary", "PostgreSQL 16 or later"];
        assert_says(&error, "standby_unsupported", &help, "before 16");
        assert!(!has_checkpoint_tables(&world).await);
        let report = doctor::preflight(&pipeline).await;
        assert_eq!(report.exit_code, 1, "it answered: {report:?}");
        return;
    }
    let mut handle = pipeline.start().await.unwrap();
    {
        let mut ready = std::pin::pin!(tokio::time::timeout(DEADLINE, handle.ready()));
        // A slot of a standby waits for the primary to say which transactions run.
        let mut asking = tokio::time::interval(Duration::from_millis(100));
        loop {
            tokio::select! {
                ready = &mut ready => break ready.unwrap().unwrap(),
                _ = asking.tick() => world.run("select pg_log_standby_snapshot()").await,
            }
        }
    }
    world
        .run("insert into t values (1, 'a'), (2, 'b'); update t set v = 'c' where id = 2")
        .await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wal_level_lowered_under_a_slot_is_a_source_that_is_away_until_it_is_raised_again() {
    let installation = Installation::selected().unwrap();
    let source = ClusterBuilder::new(&installation).start().unwrap();
    let destination = shared_cluster();
    let mut world = World::between(Arc::new(source), &destination, BASE, BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'before')").await;
    assert_equal(&world, &["t"]).await;

    let cluster = Arc::get_mut(&mut world.cluster).unwrap();
    cluster.stop(Shutdown::Fast).unwrap();
    cluster.set("wal_level", "replica").unwrap();
    // The server itself refuses to forget the slot: it does not start, and its log says why.
    let refusal = cluster.start().unwrap_err().to_string();
    assert!(refusal.contains("wal_level"), "{refusal}");
    assert!(refusal.contains(world.slot), "{refusal}");
    retrying(&handle, "source_unreachable").await;
    let report = doctor::preflight(&pipeline).await;
    assert_eq!(report.exit_code, 3, "{report:?}");

    let cluster = Arc::get_mut(&mut world.cluster).unwrap();
    cluster.set("wal_level", "logical").unwrap();
    cluster.start().unwrap();
    world.reconnect().await;
    world.run("insert into t values (2, 'after')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}
