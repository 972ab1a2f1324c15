//! Do rows that refer to each other arrive under the destination's own foreign keys?

use replicant_sink::options::DestinationConstraints;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::scenario::Scenario;

/// What an application declares.
const SOURCE: &str = "create table parent (id int primary key, v text); \
    create table child (id int primary key, parent int references parent on delete cascade on update cascade, v text); \
    create table note (id int primary key, parent int references parent on delete set null on update cascade, \
    other int references parent deferrable initially deferred)";

/// The same references, checked at commit and without actions of their own.
const DEFERRED: &str = "create table parent (id int primary key, v text); \
    create table child (id int primary key, parent int references parent deferrable, v text); \
    create table note (id int primary key, parent int references parent deferrable, \
    other int references parent deferrable)";

const TABLES: &[&str] = &["parent", "child", "note"];

const TRANSACTIONS: &[&str] = &[
    "insert into parent select n, 'p' from generate_series(1, 9) n; \
     insert into child select n, n % 5 + 1, 'c' from generate_series(1, 20) n; \
     insert into note select n, n, n from generate_series(1, 5) n",
    "update note set other = null",
    "delete from parent where id = 1",
    "update parent set id = 20 where id = 2",
    "begin; insert into note values (30, null, 99); insert into parent values (99, 'late'); commit",
    "begin; insert into parent values (40, 'a'), (41, 'b'); insert into child values (40, 40, 'c'); \
     update child set parent = 41 where id = 40; delete from parent where id = 40; commit",
    "begin; delete from child; delete from note where parent = 3; delete from parent where id = 3; \
     insert into parent values (3, 'again'); insert into child values (1, 3, 'again'); commit",
    "update note set other = null; update parent set id = id + 1000",
    "delete from parent where id = 1003",
];

#[tokio::test(flavor = "multi_thread")]
async fn cascades_arrive_under_deferred_foreign_keys() {
    Scenario::new(SOURCE, DEFERRED, TABLES)
        .mirrors(TRANSACTIONS)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cascades_arrive_once_although_a_trusted_destination_declares_them_too() {
    Scenario::same(SOURCE, TABLES)
        .constraints(DestinationConstraints::Trusted)
        .mirrors(TRANSACTIONS)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_refer_to_their_own_table_arrive() {
    Scenario::new(
        "create table t (id int primary key, boss int references t on delete cascade)",
        "create table t (id int primary key, boss int references t deferrable)",
        &["t"],
    )
    .mirrors(&[
        "insert into t values (1, null), (2, 1), (3, 2), (4, 3)",
        "update t set boss = 4 where id = 1",
        "update t set boss = null where id = 3; delete from t where id = 2",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_to_a_row_the_mirror_never_had_stops_before_its_transaction() {
    let world = World::new(SOURCE, DEFERRED).await;
    world.run("insert into parent values (1, 'old')").await;
    let handle = world.mirror(TABLES).await;
    world.run("insert into parent values (2, 'new')").await;
    world.caught_up().await;
    let before = world.source_position().await;
    world.run("insert into child values (1, 1, 'c')").await;
    let error = handle.join().await.unwrap_err();
    assert_eq!(error.code(), "destination_foreign_key_violated");
    assert!(world.watermark().await < Some(before));
}

#[tokio::test(flavor = "multi_thread")]
async fn emptied_parents_empty_their_children() {
    let world = World::new(SOURCE, DEFERRED).await;
    let handle = world.mirror(TABLES).await;
    for transaction in &TRANSACTIONS[..2] {
        world.run(transaction).await;
    }
    world
        .run("begin; insert into parent values (70, 'before'); truncate parent cascade; \
              insert into parent values (71, 'after'); insert into child values (71, 71, 'after'); commit")
        .await;
    assert_equal(&world, TABLES).await;
    handle.stop().await.unwrap();
}
