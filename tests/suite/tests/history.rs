//! Does a history hold every version of every row, each with its own window?

use replicant_checkpoint::contract::resource::OnTruncate;
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::journal::{Journal, stored_versions};
use replicant_tests::kept::WINDOW;
use replicant_tests::world::DEADLINE;

/// A row whose `big` is stored out of line, so that an update that leaves it alone does not send it.
const SOURCE: &str = "create table t (id int primary key, v text, big text); \
    alter table t alter big set storage external";

const COLUMNS: &[&str] = &["id", "v", "big"];

fn destination() -> String {
    format!(
        "create table t (id int not null, v text, big text, {WINDOW}); \
         create unique index on t (id, valid_from_lsn); \
         create unique index on t (id) where valid_to_lsn is null"
    )
}

async fn declared(world: &World, on_truncate: OnTruncate) -> &'static SinkSpec {
    let specification = world.specification(&["t: history(id)"]).await;
    let specification = specification.with("t", |t| t.on_truncate = on_truncate);
    specification.build()
}

async fn equal(world: &World, journal: &mut Journal) {
    world.caught_up().await;
    journal.read(&world.source).await;
    let expected = journal.versions("t", &[0]);
    let found = stored_versions(&world.destination, "t", COLUMNS).await;
    assert_eq!(found, expected);
    windows_agree(world).await;
}

/// Times and the current flag say what the positions say.
async fn windows_agree(world: &World) {
    let wrong = world
        .destination_text(
            "select count(*)::text from t where is_current <> (valid_to_lsn is null) \
             or valid_from is null or (valid_to is null) <> (valid_to_lsn is null) \
             or valid_to_lsn < valid_from_lsn",
        )
        .await;
    assert_eq!(wrong, "0");
}

/// The transactions live, one by one, and as a backlog, in groups. Both must leave what the journal says.
async fn holds(source: &str, transactions: &[&str]) {
    let world = World::new(source, &destination()).await;
    let mut journal = Journal::open(&world, &[("t", COLUMNS)]).await;
    let spec = declared(&world, OnTruncate::Close).await;
    let handle = world.start(spec).await;
    for transaction in transactions {
        world.run(transaction).await;
        world.caught_up().await;
    }
    equal(&world, &mut journal).await;
    handle.stop().await.unwrap();

    let world = World::new(source, &destination()).await;
    let mut journal = Journal::open(&world, &[("t", COLUMNS)]).await;
    let spec = declared(&world, OnTruncate::Close).await;
    world.start(spec).await.stop().await.unwrap();
    for transaction in transactions {
        world.run(transaction).await;
    }
    let handle: Handle = world.start(spec).await;
    equal(&world, &mut journal).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_of_a_row_is_a_version() {
    holds(
        SOURCE,
        &[
            "insert into t values (1, 'a', repeat('x', 5000)), (2, 'b', null)",
            "update t set v = 'c' where id = 1",
            "update t set v = 'd'",
            "delete from t where id = 2",
            "insert into t values (2, 'again', null)",
            "update t set v = v",
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_changes_of_a_key_in_one_transaction_are_one_version() {
    holds(
        SOURCE,
        &[
            "begin; insert into t values (1, 'a', 'x'); update t set v = 'b'; update t set v = 'c'; commit",
            "begin; update t set v = 'd'; update t set big = repeat('y', 5000); commit",
            "begin; insert into t values (2, 'gone', null); delete from t where id = 2; commit",
            "begin; update t set v = 'e'; delete from t where id = 1; commit",
            "begin; insert into t values (1, 'f', null); delete from t where id = 1; \
             insert into t values (1, 'g', 'z'); commit",
            "begin; delete from t where id = 1; insert into t values (1, 'h', null); commit",
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_key_ends_one_history_and_begins_another() {
    holds(
        SOURCE,
        &[
            "insert into t values (1, 'a', repeat('x', 5000)), (2, 'b', repeat('y', 5000))",
            "update t set id = 3 where id = 1",
            "update t set id = id + 10",
            "begin; update t set id = -1 where id = 13; update t set id = 13 where id = 12; \
             update t set id = 12 where id = -1; commit",
            "begin; update t set id = 20 where id = 12; insert into t values (12, 'new', null); commit",
            "begin; update t set id = 21, big = 'short' where id = 20; update t set v = 'z' where id = 21; commit",
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncate_closes_every_open_version() {
    holds(
        SOURCE,
        &[
            "insert into t values (1, 'a', 'x'), (2, 'b', null)",
            "begin; insert into t values (3, 'c', null); truncate t; insert into t values (1, 'again', null); commit",
            "truncate t",
            "insert into t values (2, 'later', null)",
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirrored_truncate_deletes_the_history() {
    let world = World::new(SOURCE, &destination()).await;
    let spec = declared(&world, OnTruncate::Mirror).await;
    let journal = Journal::open(&world, &[("t", COLUMNS)]).await;
    let handle = world.start(spec).await;
    world
        .run("insert into t values (1, 'a', null); update t set v = 'b'")
        .await;
    world.run("truncate t").await;
    world.run("insert into t values (1, 'c', null)").await;
    world.caught_up().await;
    let found = stored_versions(&world.destination, "t", COLUMNS).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].row[1].as_deref(), Some("c"));
    drop(journal);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncate_nobody_decided_about_halts() {
    let world = World::new(SOURCE, &destination()).await;
    let spec = declared(&world, OnTruncate::Halt).await;
    let _journal = Journal::open(&world, &[("t", COLUMNS)]).await;
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a', null)").await;
    world.run("truncate t").await;
    let stopped = tokio::time::timeout(DEADLINE, handle.join()).await.unwrap();
    assert_eq!(stopped.unwrap_err().code(), "truncate_halt");
    let found = stored_versions(&world.destination, "t", COLUMNS).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to, None);
}

/// More than a group holds, so that it is applied in parts, and rows change again in a later part.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_in_parts_makes_one_version_of_a_key() {
    holds(
        SOURCE,
        &[
            "insert into t select n, 'first', repeat('x', 3000) from generate_series(1, 7000) n",
            "begin; update t set v = 'second'; update t set v = 'third' where id % 2 = 0; \
             update t set id = -id where id % 3 = 0; update t set v = 'fourth' where id % 5 = 0; \
             delete from t where id % 7 = 0; insert into t select n * 7, 'seven', null from generate_series(1, 1000) n; \
             update t set v = 'fifth'; commit",
        ],
    )
    .await;
}
