//! Does a history or a log that its destination cannot hold get its own reason before anything is created, and does the
//! statement it shows repair it?

use replicant_sink::doctor::{self, Verdict};
use replicant_tests::World;
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::refusal::{
    assert_says, drop_slot, halted, has_checkpoint_tables, positions, refused, shown_statement,
    slot_exists,
};

const SOURCE: &str =
    "create table t (id int primary key, v text); alter table t replica identity full";

const HISTORY: &[&str] = &["t: history(id)"];
const LOG: &[&str] = &["t: log"];

struct Case {
    /// What is done to a destination that was good.
    destination: &'static str,
    code: &'static str,
    mentions: &'static [&'static str],
}

async fn check(tables: &[&str], good: &str, case: &Case) {
    let world = World::new(SOURCE, good).await;
    let spec = world.specification(tables).await.build();
    let broken = world.destination.batch_execute(case.destination).await;
    broken.unwrap();
    let pipeline = world.pipeline(spec).await;
    let report = doctor::preflight(&pipeline).await;
    let failed = report
        .checks
        .iter()
        .any(|check| check.status == Verdict::Fail && check.reason == case.code);
    assert!(failed, "{}: {report:?}", case.destination);

    let error = refused(&pipeline).await;
    assert_says(&error, case.code, case.mentions, case.destination);
    assert!(!slot_exists(&world).await, "{}", case.destination);
    assert!(!has_checkpoint_tables(&world).await, "{}", case.destination);

    let statement = shown_statement(&error);
    if let Err(error) = world.destination.batch_execute(&statement).await {
        panic!("{}: {statement}: {error:?}", case.destination);
    }
    let mut handle = pipeline.start().await.unwrap();
    if let Err(error) = handle.ready().await {
        panic!("{}: not repaired: {error}", case.destination);
    }
    world
        .run("insert into t values (1, 'a'); update t set v = 'b'; delete from t; truncate t")
        .await;
    world.caught_up().await;
    let rows = world.destination_text("select count(*)::text from t").await;
    // One simple query is one transaction: a history has one version of it, a log every event.
    let expected = if tables == LOG { "4" } else { "1" };
    assert_eq!(rows, expected, "{}", case.destination);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_stays_open_after_its_row_was_deleted_stops_the_history() {
    let good = format!(
        "create table t (id int not null, v text, {WINDOW}); \
         create unique index version on t (id, valid_from_lsn); \
         create unique index open on t (id) where valid_to_lsn is null"
    );
    let world = World::new(SOURCE, &good).await;
    let spec = world.specification(HISTORY).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a'), (2, 'b')").await;
    // A row that came and went, and one that came again in the transaction of its end, are no leftovers.
    world
        .run("begin; insert into t values (3, 'c'); delete from t where id = 3; commit")
        .await;
    world
        .run("begin; delete from t where id = 2; insert into t values (2, 'c'); commit")
        .await;
    world.caught_up().await;
    let veto = "create function f() returns trigger language plpgsql as 'begin return null; end'; \
                create trigger veto before update on t for each row execute function f()";
    world.destination.batch_execute(veto).await.unwrap();
    let before = world.source_position().await;
    world.run("delete from t where id = 1").await;
    let error = halted(handle).await;
    let mentions = ["public.t", "still open"];
    assert_says(&error, "destination_diverged", &mentions, "vetoed");
    assert!(positions(&world).await.unwrap().0.unwrap() < before);
    let repair = "drop trigger veto on t";
    world.destination.batch_execute(repair).await.unwrap();
    let handle = world.start(spec).await;
    world.caught_up().await;
    let open = "select string_agg(id::text, ',') from t where valid_to_lsn is null";
    assert_eq!(world.destination_text(open).await, "2");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_history_lacks_is_refused_with_the_statement_that_adds_it() {
    let good = format!(
        "create table t (id int not null, v text, {WINDOW}); \
         create unique index version on t (id, valid_from_lsn); \
         create unique index open on t (id) where valid_to_lsn is null"
    );
    for case in [
        Case {
            destination: "drop table t",
            code: "destination_table_missing",
            mentions: &["where \"valid_to_lsn\" is null"],
        },
        Case {
            destination: "drop index version",
            code: "destination_unique_missing",
            mentions: &[
                "create unique index",
                "on \"public\".\"t\" (\"id\", \"valid_from_lsn\")",
            ],
        },
        Case {
            destination: "drop index open",
            code: "destination_unique_missing",
            mentions: &["(\"id\") where \"valid_to_lsn\" is null"],
        },
        Case {
            destination: "drop index open; create unique index open on t (id) where valid_to is null",
            code: "destination_unique_missing",
            mentions: &["(\"id\") where \"valid_to_lsn\" is null"],
        },
        Case {
            destination: "alter table t drop constraint t_pkey",
            code: "destination_unique_missing",
            mentions: &["primary key (\"version_id\")"],
        },
        Case {
            destination: "create unique index on t (v)",
            code: "destination_unique_too_narrow",
            mentions: &["\"v\"", "drop index"],
        },
        Case {
            destination: "alter table t add constraint one unique (id, v) deferrable",
            code: "destination_unique_too_narrow",
            mentions: &["drop constraint \"one\""],
        },
        Case {
            destination: "alter table t drop column valid_to",
            code: "destination_column_missing",
            mentions: &["add column \"valid_to\" timestamptz"],
        },
        Case {
            destination: "alter table t alter valid_from type timestamptz(0)",
            code: "type_pair_lossy",
            mentions: &["type timestamptz"],
        },
        Case {
            destination: "alter table t alter valid_from set not null",
            code: "destination_nullability",
            mentions: &["\"valid_from\" drop not null"],
        },
        Case {
            destination: "alter table t alter version_id drop identity",
            code: "destination_column_unfilled",
            mentions: &["\"version_id\" add generated by default as identity"],
        },
    ] {
        check(HISTORY, &good, &case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_log_lacks_is_refused_with_the_statement_that_adds_it() {
    let good = format!(
        "create table t (id int, v text, before_v text, {STAMPS}); create unique index axes on t ({AXES})"
    );
    for case in [
        Case {
            destination: "drop table t",
            code: "destination_table_missing",
            mentions: &["create unique index", "\"ordinal\""],
        },
        Case {
            destination: "drop index axes",
            code: "destination_unique_missing",
            mentions: &[
                "\"source_system_id\", \"source_database\", \"slot_name\", \"commit_lsn\", \"ordinal\"",
            ],
        },
        Case {
            destination: "create unique index on t (id)",
            code: "destination_unique_too_narrow",
            mentions: &["drop index"],
        },
        Case {
            destination: "alter table t alter id set not null",
            code: "destination_nullability",
            mentions: &["a truncate has no row", "\"id\" drop not null"],
        },
        Case {
            destination: "alter table t alter before_v set not null",
            code: "destination_nullability",
            mentions: &["\"before_v\" drop not null"],
        },
        Case {
            destination: "alter table t alter ordinal type int",
            code: "type_pair_lossy",
            mentions: &["\"ordinal\" type bigint"],
        },
        Case {
            destination: "alter table t drop column xid",
            code: "destination_column_missing",
            mentions: &["add column \"xid\" bigint"],
        },
    ] {
        check(LOG, &good, &case).await;
    }
}

/// The default identity tells the primary key of an old row, and nothing of a business key beside it.
#[tokio::test(flavor = "multi_thread")]
async fn a_history_by_another_key_needs_whole_old_rows_and_every_row_to_have_that_key() {
    let good = format!(
        "create table t (id int, v text not null, {WINDOW}); \
         create unique index on t (v, valid_from_lsn); create unique index on t (v) where valid_to_lsn is null"
    );
    let world = World::new("create table t (id int primary key, v text)", &good).await;
    let specification = world.specification(&["t: history(v)"]).await;
    let pipeline = world.pipeline(specification.build()).await;
    let error = refused(&pipeline).await;
    let shown = ["alter table \"public\".\"t\" replica identity full"];
    assert_says(&error, "source_replica_identity", &shown, "another key");
    world.run(&shown_statement(&error)).await;
    // A row of no key would be no row of any history.
    let error = refused(&pipeline).await;
    let shown = ["alter table \"public\".\"t\" alter column \"v\" set not null"];
    assert_says(&error, "destination_nullability", &shown, "no key");
    world.run(&shown_statement(&error)).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run("insert into t values (1, 'a'); update t set v = 'b'")
        .await;
    world.run("update t set id = 2").await;
    world.run("delete from t").await;
    world.caught_up().await;
    let versions = "select string_agg(concat_ws(' ', v, id, is_current), ', ' order by valid_from_lsn, v) from t";
    let kept = "a 1 f, b 1 f, b 2 f";
    assert_eq!(world.destination_text(versions).await, kept);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_needs_whole_old_rows() {
    let good =
        format!("create table t (id int, v text, {STAMPS}); create unique index on t ({AXES})");
    let world = World::new("create table t (id int primary key, v text)", &good).await;
    let spec = world.specification(LOG).await.build();
    let error = refused(&world.pipeline(spec).await).await;
    let mentions = &["alter table \"public\".\"t\" replica identity full"];
    assert_says(
        &error,
        "source_replica_identity",
        mentions,
        "default identity",
    );
}
