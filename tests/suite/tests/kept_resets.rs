//! What happens to a history or a log when its checkpoint is forgotten, moved or restored without it?

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_sink::decision::{self, SlotOnSource};
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::journal::{Journal, stored_versions};
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::refusal::{assert_says, refused};
use replicant_tests::rewind::{forget_slot, keep_slot, on_slot, rewind};
use replicant_tests::world::DEADLINE;

const SOURCE: &str = "create table t (id int primary key, v text, big text); \
    alter table t alter big set storage external";
const COLUMNS: &[&str] = &["id", "v", "big"];

async fn history() -> (World, Journal, &'static SinkSpec) {
    let destination = format!(
        "create table t (id int not null, v text, big text, {WINDOW}); \
         create unique index on t (id, valid_from_lsn); \
         create unique index on t (id) where valid_to_lsn is null"
    );
    let world = World::new(SOURCE, &destination).await;
    let journal = Journal::open(&world, &[("t", COLUMNS)]).await;
    let spec = world.specification(&["t: history(id)"]).await.build();
    (world, journal, spec)
}

async fn log() -> (World, &'static SinkSpec) {
    let destination = format!(
        "create table t (id int, v text, big text, {STAMPS}); create unique index on t ({AXES})"
    );
    let world = World::new(SOURCE, &destination).await;
    world.run("alter table t replica identity full").await;
    let spec = world.specification(&["t: log"]).await.build();
    (world, spec)
}

const BEFORE: &[&str] = &[
    "insert into t select n, 'first', repeat('x', 3000) from generate_series(1, 400) n",
    "update t set v = 'second'",
    "begin; update t set v = 'third' where id % 2 = 0; delete from t where id % 5 = 0; \
     update t set id = -id where id % 7 = 0; insert into t values (5, 'momentary', null); \
     delete from t where id = 5; commit",
    "insert into t values (10, 'again', null)",
];
const AFTER: &[&str] = &["update t set v = 'later'", "delete from t where id = 10"];

#[tokio::test(flavor = "multi_thread")]
async fn a_history_that_is_delivered_again_stays_as_it_is() {
    let (world, mut journal, spec) = history().await;
    world.start(spec).await.stop().await.unwrap();
    keep_slot(&world).await;
    let handle = world.start(spec).await;
    for transaction in BEFORE {
        world.run(transaction).await;
    }
    world.caught_up().await;
    handle.stop().await.unwrap();
    let whole = "select md5(string_agg(t::text, ',' order by version_id)) from t";
    let told = world.destination_text(whole).await;

    rewind(&world, &world.pipeline(spec).await).await;
    let handle = world.start(spec).await;
    world.caught_up().await;
    assert_eq!(world.destination_text(whole).await, told);
    for transaction in AFTER {
        world.run(transaction).await;
    }
    world.caught_up().await;
    journal.read(&world.source).await;
    let found = stored_versions(&world.destination, "t", COLUMNS).await;
    assert!(found == journal.versions("t", &[0]));
    handle.stop().await.unwrap();
    forget_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_delivered_again_are_appended_once() {
    let (world, spec) = log().await;
    world.start(spec).await.stop().await.unwrap();
    keep_slot(&world).await;
    let handle = world.start(spec).await;
    for transaction in BEFORE {
        world.run(transaction).await;
    }
    world.caught_up().await;
    handle.stop().await.unwrap();
    // What is stored is never written again, not even with the same values.
    world
        .destination
        .batch_execute("update t set v = 'kept' where event_id % 3 = 0")
        .await
        .unwrap();
    let whole = "select md5(string_agg(t::text, ',' order by event_id)) from t";
    let told = world.destination_text(whole).await;

    rewind(&world, &world.pipeline(spec).await).await;
    let handle = world.start(spec).await;
    world.caught_up().await;
    assert_eq!(world.destination_text(whole).await, told);
    world.run(AFTER[0]).await;
    world.caught_up().await;
    let later = "select (count(*) = (select count(*) from t where v = 'later')) ::text \
                 from t where commit_lsn = (select max(commit_lsn) from t)";
    assert_eq!(world.destination_text(later).await, "true");
    handle.stop().await.unwrap();
    forget_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_of_another_source_is_not_continued() {
    // Positions the source has not reached.
    let (world, _journal, spec) = history().await;
    let version = "insert into t (id, v, valid_from_lsn, is_current) values (1, 'x', 1152921504606846976, true)";
    world.destination.batch_execute(version).await.unwrap();
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "source_behind_watermark",
        &["public.t"],
        "far ahead",
    );

    // Positions it has reached, and nothing of what happened there.
    let (world, _journal, spec) = history().await;
    world.start(spec).await.stop().await.unwrap();
    world.run("insert into t values (1, 'a', null)").await;
    let reached = world.source_position().await;
    let version = format!(
        "insert into t (id, v, valid_from_lsn, is_current) values (2, 'x', {reached}, true)"
    );
    world.destination.batch_execute(&version).await.unwrap();
    let pipeline = world.pipeline(spec).await;
    wait_for("the lease to end", DEADLINE, async || {
        decision::reset(&pipeline, SlotOnSource::MayStay).await.ok()
    })
    .await
    .unwrap();
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "destination_diverged",
        &["none of this transaction"],
        "no trace",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_whose_slot_moved_on_halts() {
    let (world, spec) = log().await;
    world.start(spec).await.stop().await.unwrap();
    world.run("insert into t values (1, 'a', null)").await;
    on_slot(
        &world,
        "select pg_replication_slot_advance('{slot}', pg_current_wal_lsn())",
    )
    .await;
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "append_origin_gap",
        &["the slot starts at"],
        "advanced",
    );

    // A slot of the same name that was created later has forgotten everything before it.
    let (world, spec) = log().await;
    world.start(spec).await.stop().await.unwrap();
    on_slot(&world, "select pg_drop_replication_slot('{slot}')").await;
    on_slot(
        &world,
        "select pg_create_logical_replication_slot('{slot}', 'pgoutput')",
    )
    .await;
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "append_origin_gap",
        &["the slot starts at"],
        "created again",
    );
}

/// What moves the slot of a quiet log is recorded before the source is told, so a restart is no gap; what somebody else
/// moves is one, although no event of the log was passed over.
#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_log_goes_on_and_a_slot_that_somebody_moved_over_nothing_of_it_halts() {
    let (world, spec) = log().await;
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a', null)").await;
    world.caught_up().await;
    let (before, elsewhere) = (
        world.acked_end().await,
        "drop table if exists x; create unlogged table x (n int)",
    );
    for _ in 0..3 {
        world.run(elsewhere).await;
        let filler = "select pg_logical_emit_message(false, 'p', repeat('x', 4000000)) from generate_series(1, 5)";
        world.run(filler).await;
    }
    wait_for("the slot to move over nothing", DEADLINE, async || {
        let query = "select (confirmed_flush_lsn - '0/0')::bigint from pg_replication_slots where slot_name = $1";
        let row = world.source.query_one(query, &[&world.slot]).await.unwrap();
        let confirmed: Option<i64> = row.get(0);
        let recorded = world.acked_end().await;
        assert!(confirmed <= recorded, "told before it was durable");
        (confirmed > before).then_some(())
    })
    .await
    .unwrap();
    handle.stop().await.unwrap();
    let handle = world.start(spec).await;
    world.run("insert into t values (2, 'b', null)").await;
    world.caught_up().await;
    let events = "select string_agg(operation || id, ',' order by commit_lsn) from t";
    assert_eq!(world.destination_text(events).await, "insert1,insert2");
    handle.stop().await.unwrap();

    world.run(elsewhere).await;
    let advance = "select pg_replication_slot_advance('{slot}', pg_current_wal_lsn())";
    on_slot(&world, advance).await;
    let error = refused(&world.pipeline(spec).await).await;
    let named = ["the slot starts at"];
    assert_says(&error, "append_origin_gap", &named, "moved over nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_ahead_of_its_checkpoint_halts() {
    let (world, spec) = log().await;
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a', null)").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world
        .destination
        .batch_execute("update t set commit_lsn = commit_lsn + 1000000000")
        .await
        .unwrap();
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "append_frontier_divergent",
        &["public.t", "the watermark is"],
        "ahead",
    );
}
