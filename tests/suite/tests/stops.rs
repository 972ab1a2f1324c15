//! When a mirror must stop, does it stop exactly before the transaction it cannot apply?

use replicant_checkpoint::contract::resource::OnTruncate;
use replicant_sink::Error;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::refusal::drop_slot;
use replicant_tests::scenario::Scenario;
use replicant_tests::world::DEADLINE;

const T: &str = "create table t (id int primary key, v text)";

async fn stopped(handle: Handle) -> Error {
    let ended = tokio::time::timeout(DEADLINE, handle.join()).await;
    ended.expect("the mirror did not stop").unwrap_err()
}

/// Runs transactions as a backlog, so that they are one group, and returns why the mirror stopped.
async fn backlog(world: &World, transactions: &[&str]) -> Error {
    let spec = world.specification(&["t"]).await.build();
    world.start(spec).await.stop().await.unwrap();
    for transaction in transactions {
        world.run(transaction).await;
    }
    stopped(world.pipeline(spec).await.start().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poison_transaction_stops_the_watermark_exactly_before_it() {
    // In a group of small transactions, and at the end of one that was applied in parts.
    let backlogs = [
        &[
            "insert into t values (1, 'a')",
            "insert into t values (2, 'b')",
            "insert into t values (3, 'c'), (4, 'poison')",
            "insert into t values (5, 'd')",
        ][..],
        &[
            "insert into t values (1, 'a'), (2, 'b')",
            "begin; insert into t select n, 'b' from generate_series(10, 31000) n; \
             insert into t values (-1, 'poison'); commit",
        ],
    ];
    for transactions in backlogs {
        let strict = "create table t (id int primary key, v text check (v <> 'poison'))";
        let world = World::new(T, strict).await;
        let error = backlog(&world, transactions).await;
        assert_eq!(error.code(), "destination_rejected");
        let applied = rows(&world.destination, "(select id from t) as t").await;
        assert_eq!(applied, [[Some("1".to_owned())], [Some("2".to_owned())]]);

        // The watermark is the commit before it: mending the destination is all it takes.
        world
            .destination
            .batch_execute("alter table t drop constraint t_v_check")
            .await
            .unwrap();
        let handle = world.mirror(&["t"]).await;
        assert_equal(&world, &["t"]).await;
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

/// A backlog of several groups, each of which is taken and planned while the one before it is committed.
#[tokio::test(flavor = "multi_thread")]
async fn a_poison_transaction_in_a_long_backlog_stops_exactly_before_it() {
    let strict = "create table t (id int primary key, v text check (v <> 'poison'))";
    let world = World::new(T, strict).await;
    let error = backlog(
        &world,
        &["do $$ begin for n in 0..2999 loop \
           insert into t select n * 10 + i, 'a' from generate_series(1, 10) i; \
           update t set v = case n when 2600 then 'poison' else 'b' end where id = n * 10 + 1; \
           commit; end loop; end $$"],
    )
    .await;
    assert_eq!(error.code(), "destination_rejected");
    let applied = rows(&world.destination, "(select max(id), count(*) from t) as t").await;
    let before = Some("26000".to_owned());
    assert_eq!(applied, [[before.clone(), before]]);

    world
        .destination
        .batch_execute("alter table t drop constraint t_v_check")
        .await
        .unwrap();
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// A transaction that cannot be applied to a mirror that holds row 1.
struct Stop {
    destination: &'static str,
    source: &'static str,
    code: &'static str,
    /// Rows left in the mirror.
    left: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_applied_stops_before_its_transaction() {
    for case in [
        Stop {
            destination: "",
            source: "create table surprise (id int primary key); \
                     begin; insert into t values (2, 'b'); insert into surprise values (1); commit",
            code: "source_table_unmapped",
            left: 1,
        },
        Stop {
            destination: "delete from t",
            source: "begin; insert into t values (2, 'b'); update t set v = 'u' where id = 1; commit",
            code: "destination_diverged",
            left: 0,
        },
        Stop {
            destination: "",
            source: "begin; insert into t values (2, 'b'); truncate t; commit",
            code: "truncate_halt",
            left: 1,
        },
    ] {
        let world = World::same(T).await;
        let spec = world.specification(&["t"]).await;
        let spec = spec.with("t", |table| table.on_truncate = OnTruncate::Halt);
        let handle = world.start(spec.build()).await;
        world.run("insert into t values (1, 'a')").await;
        world.caught_up().await;
        let edited = world.destination.batch_execute(case.destination).await;
        edited.unwrap();
        let before = world.source_position().await;
        world.run(case.source).await;
        assert_eq!(stopped(handle).await.code(), case.code);
        assert!(world.watermark().await < Some(before), "{}", case.code);
        assert_eq!(
            rows(&world.destination, "t").await.len(),
            case.left,
            "{}",
            case.code
        );
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_row_that_is_not_there_changes_nothing_else() {
    let world = World::same(T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a'), (2, 'b')").await;
    world.caught_up().await;
    world
        .destination
        .batch_execute("delete from t where id = 1")
        .await
        .unwrap();
    world.run("delete from t where id = 1").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_that_started_late_takes_in_older_rows_when_they_change() {
    let world = World::same(T).await;
    world
        .run("insert into t select n, 'old' from generate_series(1, 5) n")
        .await;
    let handle = world.mirror(&["t"]).await;
    world.run("update t set v = 'new' where id < 3").await;
    world.run("update t set id = 30 where id = 3").await;
    world.run("delete from t where id > 3 and id < 10").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_mirror_stops_at_an_older_row_of_which_it_learns_only_a_part() {
    let world =
        World::same("create table t (id int primary key, v int, big text); alter table t alter big set storage external")
            .await;
    world
        .run("insert into t values (1, 1, repeat('b', 9000))")
        .await;
    let handle = world.mirror(&["t"]).await;
    let before = world.watermark().await;
    world.run("update t set v = 2").await;
    let error = stopped(handle).await;
    assert_eq!(error.code(), "row_incomplete");
    assert_eq!(world.watermark().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_truncate_empties_its_table_between_the_rows_around_it() {
    Scenario::same(
        "create table t (id int generated by default as identity primary key, v text); \
         create table u (id int primary key); create table decoy (id int primary key)",
        &["t", "u", "decoy"],
    )
    .mirrors(&[
        "insert into t (v) values ('a'), ('b'); insert into decoy values (1)",
        "truncate t",
        "insert into t (v) values ('c')",
        "begin; insert into t (v) values ('gone'); truncate t restart identity; insert into t (v) values ('kept'); \
         commit",
        "begin; insert into u values (1); truncate u, t; insert into u values (2); commit",
        "begin; truncate t; insert into t values (1, 'x'); truncate t; insert into t values (1, 'y'); commit",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_truncate_empties_a_table_of_any_name_and_no_other() {
    let world = World::same(
        "create table \"T x\"\"y\" (id int primary key); create table \"t x\"\"y\" (id int primary key)",
    )
    .await;
    let handle = world.mirror(&["T x\"y", "t x\"y"]).await;
    world
        .run("insert into \"T x\"\"y\" values (1); insert into \"t x\"\"y\" values (1)")
        .await;
    world.run("truncate \"T x\"\"y\"").await;
    assert_equal(&world, &["\"T x\"\"y\"", "\"t x\"\"y\""]).await;
    handle.stop().await.unwrap();
}
