//! Which source transactions does a current-state mirror survive, row by row?

use replicant_checkpoint::contract::resource::{
    ColumnSpec, IdentitySpec, Nullability, Origin, Visibility,
};
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::scenario::Scenario;
use replicant_tests::specification::column;

const T: &str = "create table t (id int primary key, v text)";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_comes_and_goes_in_one_transaction_ends_as_on_the_source() {
    Scenario::same(T, &["t"])
        .mirrors(&[
            "insert into t values (1, 'a'), (2, 'b')",
            "delete from t where id = 1; insert into t values (1, 'again')",
            "insert into t values (3, 'c'); delete from t where id = 3",
            "delete from t where id = 2; insert into t values (2, 'x'); update t set v = 'y' where id = 2; \
             delete from t where id = 2; insert into t values (2, 'z')",
            "insert into t values (4, 'd'); update t set v = null where id = 4",
        ])
        .await;
}

/// Values too wide for the page, which do not compress; an update that does not touch them does not send them.
const WIDE: &str = "create table t (id int primary key, v int, big text not null, other text); \
    alter table t alter big set storage external, alter other set storage external";

#[tokio::test(flavor = "multi_thread")]
async fn values_that_were_not_sent_keep_what_is_stored() {
    Scenario::same(WIDE, &["t"])
        .mirrors(&[
            "insert into t select n, n, repeat(n::text, 9000), repeat('o', 9000) from generate_series(1, 6) n",
            "update t set v = -1 where id = 1",
            "update t set big = repeat('n', 8000) where id = 2; update t set v = 7 where id = 2",
            "update t set other = null where id = 3; update t set v = 8 where id = 3",
            "update t set id = 40 where id = 4",
            "update t set big = repeat('p', 8000) where id = 5; update t set id = 50 where id = 5",
            "insert into t values (7, 7, repeat('7', 9000), null); update t set id = 70 where id = 7; \
             update t set v = 71 where id = 70",
            "update t set id = 60 where id = 6; update t set id = 61, v = 1 where id = 60; update t set v = 2 where id = 61",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_were_not_sent_come_from_the_old_row_when_it_is_full() {
    let ddl = format!("{WIDE}; alter table t replica identity full");
    Scenario::same(&ddl, &["t"])
        .mirrors(&[
            "insert into t select n, n, repeat(n::text, 9000), repeat('o', 9000) from generate_series(1, 3) n",
            "update t set v = -1",
            "update t set id = 30 where id = 3",
            "delete from t where id = 1",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_move_through_each_other_arrive() {
    Scenario::same(T, &["t"])
        .mirrors(&[
            "insert into t select n, 'v' || n from generate_series(1, 9) n",
            "update t set id = -1 where id = 1; update t set id = 1 where id = 2; update t set id = 2 where id = -1",
            "update t set id = 13 where id = 3; update t set id = 3 where id = 4; update t set id = 4 where id = 5",
            "update t set id = 16 where id = 6; insert into t values (6, 'new'); update t set id = 17 where id = 16",
            "update t set id = id + 100; update t set id = id - 99",
            "delete from t where id = 8; update t set id = 8 where id = 9; insert into t values (9, 'n')",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferrable_key_swapped_in_one_statement_arrives() {
    Scenario::new(
        "create table t (id int not null, pos int not null, v text, unique (pos) deferrable, primary key (id))",
        "create table t (id int primary key, pos int not null unique deferrable, v text)",
        &["t"],
    )
    .mirrors(&[
        "insert into t values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')",
        "update t set pos = 3 - pos where pos < 3",
        "update t set pos = pos % 3 + 1",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferrable_swap_that_is_written_in_several_steps_arrives() {
    // A key changed back within the transaction splits the statement's rows over two flushes.
    let ddl = "create table t (id int primary key, pos int unique deferrable)";
    Scenario::same(ddl, &["t"])
        .mirrors(&[
            "insert into t values (1, 1), (2, 2), (3, 3), (4, 4)",
            "begin; update t set id = 12 where id = 2; update t set pos = 5 - pos; commit",
            "begin; update t set id = 14 where id = 4; update t set id = 4 where id = 14; update t set pos = 5 - pos; \
             commit",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferrable_shift_larger_than_a_group_arrives() {
    // Several parts of eight MiB: between them the last value of one is still held by the first row of the next.
    let ddl = "create table t (id int primary key, pos int unique deferrable, pad text)";
    Scenario::same(ddl, &["t"])
        .mirrors(&[
            "insert into t select n, n, repeat('x', 1000) from generate_series(1, 20000) n",
            "update t set pos = pos + 1",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unique_values_move_between_rows() {
    Scenario::same(
        "create table t (id int primary key, mail text unique, v text)",
        &["t"],
    )
    .mirrors(&[
        "insert into t values (1, 'a', ''), (2, 'b', ''), (3, 'c', '')",
        "update t set mail = 'tmp' where id = 1; update t set mail = 'a' where id = 2; update t set mail = 'b' where id = 1",
        "delete from t where id = 3; insert into t values (4, 'c', '')",
        "update t set mail = null where id = 4; insert into t values (5, 'c', ''); delete from t where id = 4",
        "update t set mail = 'd' where id = 5; update t set mail = 'c' where id = 1; insert into t values (6, 'b', '')",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unique_swap_that_only_a_deferrable_source_allows_arrives_under_an_immediate_index() {
    Scenario::new(
        "create table t (id int primary key, pos int unique deferrable initially deferred)",
        "create table t (id int primary key, pos int unique)",
        &["t"],
    )
    .mirrors(&[
        "insert into t values (1, 1), (2, 2), (3, 3)",
        "update t set pos = 2 where id = 1; update t set pos = 1 where id = 2",
        "update t set pos = pos % 3 + 1",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_without_a_key_keeps_its_duplicates_and_nulls() {
    Scenario::same(
        "create table t (a int, b text); alter table t replica identity full",
        &["t"],
    )
    .mirrors(&[
        "insert into t values (1, 'x'), (1, 'x'), (1, null), (null, null), (null, null)",
        "delete from t where ctid = (select min(ctid) from t where a = 1 and b = 'x')",
        "delete from t where ctid = (select min(ctid) from t where a is null)",
        "update t set b = 'y' where ctid = (select min(ctid) from t where a is null)",
        "insert into t values (2, 'same'), (2, 'same'), (2, 'same')",
        "update t set a = 3 where ctid = (select min(ctid) from t where a = 2); update t set b = b",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_equal_to_the_destination_but_not_as_text_are_one_key() {
    Scenario::same(
        "create extension if not exists citext with schema public; \
         create table n (id numeric primary key, v text); create table c (id citext primary key, v text); \
         create table f (id float8 primary key, v text)",
        &["n", "c", "f"],
    )
    .mirrors(&[
        "insert into n values (1.0, 'a'), (2, 'b'); insert into c values ('Key', 'a'); insert into f values (0, 'a')",
        "delete from n where id = 1; insert into n values (1.00, 'again')",
        "update n set id = 2.000, v = 'c' where id = 2",
        "delete from c; insert into c values ('KEY', 'again'); update c set v = 'u' where id = 'key'",
        "update c set id = 'kEy'",
        "delete from f; insert into f values ('-0', 'again')",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn key_columns_in_another_order_than_the_table_find_their_rows() {
    Scenario::same(
        "create table t (v text, b int, a text, c date, primary key (c, a, b))",
        &["t"],
    )
    .mirrors(&[
        "insert into t select 'v', n, n::text, date '2000-01-01' + n from generate_series(1, 5) n",
        "update t set v = 'u' where b = 2",
        "update t set a = 'moved' where b = 3",
        "delete from t where b = 4",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_nothing_but_its_key_is_mirrored() {
    Scenario::same("create table t (a int, b int, primary key (a, b))", &["t"])
        .mirrors(&[
            "insert into t values (1, 1), (2, 2), (3, 3)",
            "update t set b = 9 where a = 1; update t set a = a where a = 2",
            "delete from t where a = 3; insert into t values (3, 3)",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_that_change_nothing_are_no_change() {
    Scenario::same(WIDE, &["t"])
        .mirrors(&[
            "insert into t values (1, 1, repeat('b', 9000), null)",
            "update t set v = v",
            "update t set id = id, big = big",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn savepoints_and_rollbacks_leave_only_what_was_committed() {
    Scenario::same(T, &["t"])
        .mirrors(&[
            "begin; insert into t values (1, 'kept'); savepoint s; insert into t values (2, 'gone'); \
             rollback to s; insert into t values (3, 'kept'); savepoint s; update t set v = 'gone'; rollback to s; \
             release s; commit",
            "begin; insert into t values (9, 'gone'); rollback",
            "begin; savepoint a; savepoint b; delete from t where id = 1; release b; rollback to a; commit",
            "begin; commit",
            "begin; create temp table scratch (n int) on commit drop; insert into scratch values (1); commit",
        ])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_every_awkward_size_arrive_whole() {
    let sizes = [1, 1023, 1024, 1025, 65_535, 65_536, 65_537];
    let inserts: Vec<String> = sizes
        .iter()
        .map(|size| format!("insert into t select {size}, n from generate_series(1, {size}) n"))
        .collect();
    let world = World::same("create table t (size int, n int, primary key (size, n))").await;
    let handle = world.mirror(&["t"]).await;
    for insert in &inserts {
        world.run(insert).await;
    }
    world.caught_up().await;
    let count = "select size, count(*), sum(n) from t group by size order by size";
    let counted = format!("({count}) as counted");
    let expected = rows(&world.source, &counted).await;
    assert_eq!(rows(&world.destination, &counted).await, expected);
    assert_eq!(expected.len(), sizes.len());
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn renamed_and_skipped_columns_arrive_under_their_new_names() {
    let world = World::new(
        "create table t (id int primary key, old_name text, secret text)",
        "create table t (id int primary key, new_name text)",
    )
    .await;
    let spec = world
        .specification(&["t"])
        .await
        .with("t", |table| {
            let columns = vec![
                column("id", Nullability::NotNull),
                ColumnSpec {
                    field: "new_name",
                    target: "new_name",
                    ..column("old_name", Nullability::Nullable)
                },
            ];
            table.columns = Vec::leak(columns);
            table.skips = &["secret"];
        })
        .build();
    let handle = world.start(spec).await;
    world
        .run("insert into t values (1, 'a', 's'), (2, 'b', 's')")
        .await;
    world.run("update t set secret = 'x' where id = 1").await;
    world
        .run("update t set old_name = 'c', id = 3 where id = 2")
        .await;
    world.caught_up().await;
    let expected = rows(
        &world.source,
        "(select id, old_name as new_name from t) as t",
    )
    .await;
    assert_eq!(rows(&world.destination, "t").await, expected);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_found_by_a_declared_identity_beside_a_generated_primary_key() {
    let world = World::new(
        "create table t (code text primary key, v text)",
        "create table t (surrogate bigint generated always as identity primary key, code text not null unique, v text)",
    )
    .await;
    let spec = world
        .specification(&["t"])
        .await
        .with("t", |table| {
            let surrogate = ColumnSpec {
                origin: Origin::Destination,
                visibility: Visibility::Private,
                ..column("surrogate", Nullability::NotNull)
            };
            let columns = vec![
                surrogate,
                column("code", Nullability::NotNull),
                column("v", Nullability::Nullable),
            ];
            table.columns = Vec::leak(columns);
            table.identities = const { &[IdentitySpec::new("by_code", &["code"])] };
            table.upsert_identity = Some("by_code");
        })
        .build();
    let handle = world.start(spec).await;
    world
        .run("insert into t values ('a', '1'), ('b', '2'), ('c', '3')")
        .await;
    world.caught_up().await;
    let before = world
        .destination_text("select surrogate::text from t where code = 'b'")
        .await;
    world.run("update t set v = 'u' where code = 'b'").await;
    world
        .run("update t set code = 'd' where code = 'c'; delete from t where code = 'a'")
        .await;
    world.caught_up().await;
    let mirrored = "(select code, v from t) as t";
    assert_eq!(
        rows(&world.destination, mirrored).await,
        rows(&world.source, mirrored).await
    );
    let after = world
        .destination_text("select surrogate::text from t where code = 'b'")
        .await;
    assert_eq!(after, before, "an update keeps the destination's own key");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn identity_columns_take_the_sources_values() {
    Scenario::new(
        "create table t (id int generated always as identity primary key, n int generated by default as identity, v text)",
        "create table t (id int generated always as identity primary key, n int generated by default as identity, v text)",
        &["t"],
    )
    .mirrors(&[
        "insert into t (v) values ('a'), ('b')",
        "insert into t (id, v) overriding system value values (50, 'c')",
        "update t set v = 'u', n = 77 where v = 'a'",
        "update t set id = default where id = 50",
        "delete from t where v = 'b'",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partitioned_source_arrives_through_its_root() {
    let world = World::new(
        "create table t (id int, region text, v text, primary key (id, region)) partition by list (region); \
         create table t_eu partition of t for values in ('eu'); \
         create table t_us partition of t for values in ('us')",
        "create table t (id int, region text, v text, primary key (id, region))",
    )
    .await;
    let republish = "drop publication everything; \
                     create publication everything for table t, nudge with (publish_via_partition_root)";
    if world.major() < 13 {
        // There is no such publication.
        let refused = world.source.batch_execute(republish).await;
        assert!(refused.is_err(), "the option exists after all");
        return;
    }
    world.run(republish).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t values (1, 'eu', 'a'), (2, 'us', 'b')")
        .await;
    world.run("update t set region = 'us' where id = 1").await;
    world.run("update t set v = 'u' where id = 2").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partitioned_source_arrives_leaf_by_leaf() {
    let leaves = "create table t_eu (id int, region text, v text, primary key (id, region)); \
         create table t_us (id int, region text, v text, primary key (id, region))";
    let world = World::new(
        "create table t (id int, region text, v text, primary key (id, region)) partition by list (region); \
         create table t_eu partition of t for values in ('eu'); \
         create table t_us partition of t for values in ('us')",
        leaves,
    )
    .await;
    let handle = world.mirror(&["t_eu", "t_us"]).await;
    world
        .run("insert into t values (1, 'eu', 'a'), (2, 'us', 'b')")
        .await;
    world.run("update t set region = 'us' where id = 1").await;
    world.run("update t set v = 'u' where id = 2").await;
    assert_equal(&world, &["t_eu", "t_us"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_ignored_tables_only_move_the_watermark() {
    let world = World::same(T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let before = world.watermark().await;
    world.run("insert into nudge values (5)").await;
    world.caught_up().await;
    assert!(world.watermark().await > before);
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}
