//! Is what happens around a stop, a start or a decision applied once, whatever is open or on its way?

use replicant_sink::decision::{self, Decided, Position, SlotOnSource};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::{wait_for, wait_for_true};
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::refusal::positions;
use replicant_tests::world::DEADLINE;
use replicant_transport::position::{EndLsn, Lsn};

/// A table without a key shows everything that was applied twice.
const KEYLESS: &str = "create table t (id int); alter table t replica identity full";

async fn stopped(pipeline: &Pipeline, world: &World) {
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.caught_up().await;
    handle.stop().await.unwrap();
    let free = format!(
        "select not active from pg_replication_slots where slot_name = '{}'",
        world.slot
    );
    wait_for_true(&world.source, &free, DEADLINE).await.unwrap();
}

/// Both sides, while nothing runs.
async fn assert_same(world: &World) {
    let expected = rows(&world.source, "t").await;
    assert_eq!(rows(&world.destination, "t").await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_between_the_commits_of_interleaved_transactions_loses_and_repeats_nothing() {
    let world = World::same(KEYLESS).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let long = world.cluster.connect(&world.source_database).await.unwrap();
    stopped(&pipeline, &world).await;
    let begin = "begin; insert into t select n from generate_series(1, 3) n";
    long.batch_execute(begin).await.unwrap();
    world.run("insert into t values (10)").await;
    stopped(&pipeline, &world).await;
    long.batch_execute("insert into t values (4)")
        .await
        .unwrap();
    world.run("insert into t values (11)").await;
    stopped(&pipeline, &world).await;
    assert_eq!(rows(&world.destination, "t").await.len(), 2);
    long.batch_execute("commit").await.unwrap();
    world.run("insert into t values (12)").await;
    stopped(&pipeline, &world).await;
    assert_same(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_follow_a_message_in_their_transaction_arrive_after_a_restart() {
    let world = World::same(KEYLESS).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    stopped(&pipeline, &world).await;
    for n in 0..3 {
        world
            .run(&format!(
                "begin; select pg_logical_emit_message(true, 'p', 'x'); insert into t values ({n}); commit"
            ))
            .await;
        stopped(&pipeline, &world).await;
    }
    assert_same(&world).await;
    assert_eq!(rows(&world.destination, "t").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_alone_are_progress_and_no_gap() {
    let world = World::same(KEYLESS).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    stopped(&pipeline, &world).await;
    let (watermark, acked) = positions(&world).await.unwrap();
    world
        .run(
            "select pg_logical_emit_message(true, 'heartbeat', 'x'); \
             select pg_logical_emit_message(false, 'heartbeat', 'x')",
        )
        .await;
    let end = world.source_position().await;
    assert!(acked < Some(end));
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    wait_for("the heartbeats to count", DEADLINE, async || {
        (world.acked_end().await >= Some(end)).then_some(())
    })
    .await
    .unwrap();
    handle.stop().await.unwrap();
    assert!(positions(&world).await.unwrap().0 >= watermark);
    world.run("insert into t values (1)").await;
    stopped(&pipeline, &world).await;
    assert_same(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_backlog_only_what_an_adopted_position_does_not_cover_is_applied() {
    let world = World::same(KEYLESS).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    stopped(&pipeline, &world).await;
    let both = "insert into t values (1); insert into t values (2)";
    world.run(both).await;
    let covered = u64::try_from(world.source_position().await).unwrap();
    world.run("insert into t values (3)").await;
    world.run("insert into t values (4)").await;
    // Somebody brought the first two over by other means.
    world.destination.batch_execute(both).await.unwrap();
    let reset = decision::reset(&pipeline, SlotOnSource::MayStay).await;
    assert_eq!(reset.unwrap(), Decided::Changed);
    let position = Position::Flush(EndLsn::new(Lsn::new(covered)));
    let adopted = decision::adopt(&pipeline, position).await;
    assert_eq!(adopted.unwrap(), Decided::Changed);
    stopped(&pipeline, &world).await;
    assert_same(&world).await;
    assert_eq!(rows(&world.destination, "t").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_starts_at_once_one_runs_undisturbed() {
    let world = World::same(KEYLESS).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let pipeline = pipeline.clone();
            tokio::spawn(async move { pipeline.start().await })
        })
        .collect();
    let mut running = Vec::new();
    for start in starts {
        match start.await.unwrap() {
            Ok(handle) => running.push(handle),
            Err(error) => assert_eq!(error.code(), "slot_already_active"),
        }
    }
    let [mut winner] = <[_; 1]>::try_from(running).unwrap_or_else(|all| panic!("{}", all.len()));
    winner.ready().await.unwrap();
    world.run("insert into t values (1)").await;
    assert_equal(&world, &["t"]).await;
    assert_eq!(winner.status().sessions, 1);
    winner.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_that_is_dropped_stops_its_pipeline_and_frees_the_slot() {
    let world = World::same(KEYLESS).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    drop(world.start(spec).await);
    let again = wait_for("the slot's name", DEADLINE, async || {
        pipeline.start().await.ok()
    });
    let mut again = again.await.unwrap();
    again.ready().await.unwrap();
    world.run("insert into t values (1)").await;
    assert_equal(&world, &["t"]).await;
    again.stop().await.unwrap();
}
