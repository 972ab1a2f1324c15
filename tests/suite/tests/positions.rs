//! Does a mirror refuse to go on from a position that is not its own?

use std::sync::Arc;

use replicant_sink::Error;
use replicant_sink::pipeline::{Handle, Pipeline};
use replicant_test_servers::{Cluster, Shutdown, wait_for, wait_for_true};
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::world::{DEADLINE, shared_cluster};

const T: &str = "create table t (id int primary key, v text)";

async fn stopped(handle: Handle) -> Error {
    let ended = tokio::time::timeout(DEADLINE, handle.join()).await;
    ended.expect("the mirror did not stop").unwrap_err()
}

/// A mirror that held one row and was stopped, and its pipeline.
async fn stopped_world() -> (World, Pipeline) {
    let world = World::same(T).await;
    let pipeline = first_run(&world).await;
    (world, pipeline)
}

async fn first_run(world: &World) -> Pipeline {
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let query = format!(
        "select not active from pg_replication_slots where slot_name = '{}'",
        world.slot
    );
    wait_for_true(&world.source, &query, DEADLINE)
        .await
        .unwrap();
    pipeline
}

async fn refusal(pipeline: &Pipeline) -> &'static str {
    stopped(pipeline.start().await.unwrap()).await.code()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_that_lost_commits_is_refused() {
    let (mut world, pipeline) = stopped_world().await;
    // A copy of the destination as it is now, which takes the place of the destination as it is later.
    let admin = world.cluster.connect("postgres").await.unwrap();
    let database = world.destination_database.clone();
    world.destination = world.cluster.connect("postgres").await.unwrap();
    wait_for("the copy", DEADLINE, async || {
        let copy = format!("create database {database}_copy template {database}");
        admin.batch_execute(&copy).await.ok()
    })
    .await
    .unwrap();
    world.reconnect().await;
    let handle = pipeline.start().await.unwrap();
    world.run("insert into t values (2, 'b')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let conninfo = world
        .destination_conninfo
        .replace(&database, &format!("{database}_copy"));
    let restored = pipeline.destination(conninfo);
    assert_eq!(refusal(&restored).await, "destination_behind_slot");
    let untouched = world
        .cluster
        .connect(&format!("{database}_copy"))
        .await
        .unwrap();
    assert_eq!(rows(&untouched, "t").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_is_gone_or_new_is_refused() {
    let (world, pipeline) = stopped_world().await;
    world.run("insert into t values (2, 'lost')").await;
    world
        .run(&format!(
            "select pg_drop_replication_slot('{}')",
            world.slot
        ))
        .await;
    assert_eq!(refusal(&pipeline).await, "slot_missing");
    world
        .run(&format!(
            "select pg_create_logical_replication_slot('{}', 'pgoutput')",
            world.slot
        ))
        .await;
    assert_eq!(refusal(&pipeline).await, "destination_behind_slot");
    assert_eq!(rows(&world.destination, "t").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_row_that_disappears_stops_the_next_delivery() {
    let world = World::same(T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    world
        .destination
        .batch_execute("delete from replicant.replicant_watermarks")
        .await
        .unwrap();
    world.run("insert into t values (2, 'b')").await;
    assert_eq!(stopped(handle).await.code(), "checkpoint_unbound");
    assert_eq!(rows(&world.destination, "t").await.len(), 1);
    assert_eq!(world.watermark().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_runs_one_pipeline_per_slot() {
    let world = World::same(T).await;
    let spec = world.specification(&["t"]).await.build();
    let first = world.start(spec).await;
    let second = world.pipeline(spec).await.start().await;
    assert_eq!(second.unwrap_err().code(), "slot_already_active");
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    first.stop().await.unwrap();
    // A stopped pipeline gives its slot back.
    world.start(spec).await.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_source_under_the_same_slot_name_is_refused() {
    let (world, pipeline) = stopped_world().await;
    let other = World::same(T).await;
    let repointed = pipeline.clone().source(&other.source_conninfo);
    assert_eq!(refusal(&repointed).await, "source_identity_mismatch");
    let identity = other.cluster.source_identity(&other.source_database).await;
    let declared = repointed.source_identity(&identity.unwrap());
    assert_eq!(refusal(&declared).await, "source_identity_rebound");
    assert_equal_after(&world, &pipeline).await;
}

/// Nothing that was refused kept the mirror from going on.
async fn assert_equal_after(world: &World, pipeline: &Pipeline) {
    let handle = pipeline.start().await.unwrap();
    world.run("insert into t values (9, 'z')").await;
    assert_equal(world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_source_is_refused() {
    let destination = shared_cluster();
    let source = Cluster::start_default().unwrap();
    let mut world = World::between(Arc::new(source), &destination, T, T).await;
    let pipeline = first_run(&world).await;
    let cluster = Arc::get_mut(&mut world.cluster).unwrap();
    cluster.stop(Shutdown::Fast).unwrap();
    std::fs::write(cluster.directory().join("data/standby.signal"), "").unwrap();
    cluster.start().unwrap();
    world.reconnect().await;
    world.run("select pg_promote()").await;
    wait_for_true(&world.source, "select not pg_is_in_recovery()", DEADLINE)
        .await
        .unwrap();
    assert_eq!(refusal(&pipeline).await, "source_timeline_changed");
    assert_eq!(rows(&world.destination, "t").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_continues_from_the_slot_when_only_its_checkpoint_was_reset() {
    let (world, pipeline) = stopped_world().await;
    world
        .destination
        .batch_execute("delete from replicant.replicant_watermarks")
        .await
        .unwrap();
    world.run("insert into t values (2, 'b')").await;
    assert_equal_after(&world, &pipeline).await;
}
