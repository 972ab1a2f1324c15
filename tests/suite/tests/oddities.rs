//! Does what is rare in a test and sure to come in a year arrive, or stop by its own name?

use replicant_checkpoint::contract::resource::{Fidelity, OnTruncate, TableName};
use replicant_test_servers::connect::connect;
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::refusal::{assert_says, drop_slot, halted};
use replicant_tests::world::PUBLICATION;

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_every_size_around_a_limit_arrive_whole() {
    let world = World::same("create table t (b int, a int, v text, primary key (b, a))").await;
    let handle = world.mirror(&["t"]).await;
    // Around the sizes of statements, groups and 16-bit counters.
    for (number, size) in [
        1, 255, 256, 257, 1023, 1025, 4095, 4097, 19_999, 20_001, 65_535, 65_537,
    ]
    .into_iter()
    .enumerate()
    {
        world
            .run(&format!(
                "insert into t select {number}, n, 'x' from generate_series(1, {size}) n"
            ))
            .await;
    }
    assert_equal(&world, &["t"]).await;
    // Many composite keys in one transaction, deleted and updated.
    world
        .run("begin; delete from t where b = 11 and a <= 12000; update t set v = 'y' where b = 10 and a <= 12000; commit")
        .await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_in_and_between_transactions_change_nothing() {
    let world = World::same("create table t (id int primary key)").await;
    let handle = world.mirror(&["t"]).await;
    world
        .run(
            "begin; select pg_logical_emit_message(true, 'p', 'x'); insert into t values (1); \
              select pg_logical_emit_message(false, 'p', 'y'); commit",
        )
        .await;
    world
        .run("select pg_logical_emit_message(true, 'p', 'alone')")
        .await;
    world
        .run("select pg_logical_emit_message(false, 'p', 'alone')")
        .await;
    world
        .run("begin; insert into t values (2); select pg_logical_emit_message(false, 'p', 'z'); rollback")
        .await;
    world.run("insert into t values (3)").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_column_that_somebody_drops_stops_until_it_is_back() {
    for identity in ["default", "full"] {
        let table = "create table t (id int primary key, v text)";
        let world = World::new(
            &format!("{table}; alter table t replica identity {identity}"),
            table,
        )
        .await;
        let handle = world.mirror(&["t"]).await;
        world.run("insert into t values (1, 'a')").await;
        world.caught_up().await;
        let drop = "alter table t drop column v";
        world.destination.batch_execute(drop).await.unwrap();
        world.run("update t set v = 'b' where id = 1").await;
        let error = halted(handle).await;
        assert_says(
            &error,
            "destination_rejected",
            &["public.t", "42703"],
            identity,
        );
        let back = "alter table t add column v text default 'a'";
        world.destination.batch_execute(back).await.unwrap();
        let handle = world.mirror(&["t"]).await;
        assert_equal(&world, &["t"]).await;
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_a_single_column_are_decoded() {
    let world = World::same("create table t (id int primary key)").await;
    world
        .run(
            "create table bare (); alter table bare replica identity full; \
              create table emptied (a int, b int); alter table emptied replica identity full",
        )
        .await;
    let mut spec = world.specification(&["t"]).await;
    spec.ignored
        .extend(["bare", "emptied"].map(|table| TableName {
            schema: "public",
            table,
        }));
    let handle = world.start(spec.build()).await;
    world
        .run(
            "begin; insert into bare default values; delete from bare; insert into t values (1); \
              insert into emptied values (1, 2); alter table emptied drop a, drop b; \
              insert into emptied default values; truncate emptied, bare; commit",
        )
        .await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flat_table_is_truncated_in_a_partitioned_mirror_with_everything_that_cascades() {
    let world = World::new(
        "create table parent (id int primary key); \
         create table child (id int primary key, parent int references parent)",
        "create table parent (id int primary key) partition by range (id); \
         create table parent_low partition of parent for values from (minvalue) to (100); \
         create table parent_high partition of parent default; \
         create table child (id int primary key, parent int references parent deferrable)",
    )
    .await;
    let tables = ["parent", "child"];
    let mut spec = world.specification(&tables).await;
    for table in tables {
        spec = spec.with(table, |resource| resource.on_truncate = OnTruncate::Mirror);
    }
    let handle = world.start(spec.build()).await;
    world
        .run("insert into parent values (1), (200); insert into child values (1, 1), (2, 200)")
        .await;
    assert_equal(&world, &tables).await;
    world
        .run("begin; truncate parent cascade; insert into parent values (2); insert into child values (3, 2); commit")
        .await;
    assert_equal(&world, &tables).await;
    assert_eq!(rows(&world.destination, "child").await.len(), 1);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_whose_name_only_looks_like_ours_is_left_alone() {
    let world = World::same("create table t (id int primary key)").await;
    let other = world.slot.replace('_', "x");
    let create = "select pg_create_logical_replication_slot($1, 'pgoutput')::text";
    world.source.query_one(create, &[&other]).await.unwrap();
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1)").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    let unread = "select not active and confirmed_flush_lsn < pg_current_wal_lsn() \
                  from pg_replication_slots where slot_name = $1";
    let row = world.source.query_one(unread, &[&other]).await.unwrap();
    assert!(row.get::<_, bool>(0));
    let drop = "select pg_drop_replication_slot($1)";
    world.source.execute(drop, &[&other]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_and_text_that_is_no_json_stop_without_being_printed() {
    let mut world = World::new("", "create table t (id int primary key, v text)").await;
    // The source stores bytes that its clients call text; nobody checks them there.
    let database = format!("{}_ascii", world.source_database);
    world
        .source
        .batch_execute(&format!(
            "create database {database} encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0"
        ))
        .await
        .unwrap();
    world.source_conninfo = world.cluster.conninfo(&database);
    world.source_database = database;
    world.source = connect(&world.source_conninfo).await.unwrap();
    world
        .run(&format!(
            "create table t (id int primary key, v text); create table nudge (n int); \
             create publication {PUBLICATION} for all tables"
        ))
        .await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'plain')").await;
    assert_equal(&world, &["t"]).await;
    let bad = "insert into t select 2, 'zzsecret' || convert_from('\\xff'::bytea, 'SQL_ASCII')";
    world.run(bad).await;
    let error = halted(handle).await;
    // The source itself finds that it cannot send this as UTF-8.
    assert_says(&error, "server_refused", &["22021"], "bytes");
    assert!(!format!("{error} {error:?}").contains("zzsecret"));
    drop_slot(&world).await;

    let world = World::new(
        "create table t (id int primary key, v json)",
        "create table t (id int primary key, v jsonb)",
    )
    .await;
    let spec = world.specification(&["t"]).await.with("t", |resource| {
        let mut columns = resource.columns.to_vec();
        columns[1].fidelity = Fidelity::Lossy;
        resource.columns = Vec::leak(columns);
    });
    let handle = world.start(spec.build()).await;
    world
        .run("insert into t values (1, '{\"a\": \"zzsecret\\u0000\"}')")
        .await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "destination_rejected",
        &["public.t", "22P05"],
        "json",
    );
    assert!(!format!("{error} {error:?}").contains("zzsecret"));
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_session_in_the_replica_role_does_to_the_source_arrives() {
    let world = World::same(
        "create table parent (id int primary key); \
         create table t (id int primary key, parent int references parent deferrable)",
    )
    .await;
    let tables = ["parent", "t"];
    let handle = world.mirror(&tables).await;
    world
        .run("insert into parent values (1), (2); insert into t values (1, 1), (2, 2)")
        .await;
    assert_equal(&world, &tables).await;
    world
        .run(
            "begin; set local session_replication_role = replica; update t set parent = 2; \
             delete from parent where id = 1; commit",
        )
        .await;
    assert_equal(&world, &tables).await;
    world
        .run("begin; set local session_replication_role = replica; truncate t; insert into t values (3, 2); commit")
        .await;
    assert_equal(&world, &tables).await;
    assert_eq!(rows(&world.destination, "t").await.len(), 1);
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

/// The source may send or leave out what an open transaction wrote before the table was published. Such a table is no
/// complete mirror, so a row that it lacks is taken in when it changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_published_in_the_middle_of_a_transaction_takes_in_its_rows_when_they_change() {
    let ddl =
        "create table t (id int primary key, v text); create table other (id int primary key)";
    let world = World::same(ddl).await;
    world
        .run("drop publication everything; create publication everything for table nudge, other")
        .await;
    let without = world.specification(&["other"]).await.build();
    world.start(without).await.stop().await.unwrap();
    let open = world.cluster.connect(&world.source_database).await.unwrap();
    let begin = "begin; insert into t values (1, 'before')";
    open.batch_execute(begin).await.unwrap();
    world.run("alter publication everything add table t").await;
    let handle = world.mirror(&["other", "t"]).await;
    let end = "insert into t values (2, 'after'); commit";
    open.batch_execute(end).await.unwrap();
    world.run("insert into t values (3, 'new')").await;
    world.run("update t set v = 'later'").await;
    if world.major() < 13 {
        // No release of PostgreSQL 12 tells what it decodes an open transaction with that the table is published since,
        // and so it leaves the table out until somebody connects again. The guide says so.
        world.caught_up().await;
        assert_eq!(rows(&world.destination, "t").await.len(), 0);
        handle.stop().await.unwrap();
        let handle = world.mirror(&["other", "t"]).await;
        world.run("update t set v = 'again'").await;
        assert_equal(&world, &["t"]).await;
        return handle.stop().await.unwrap();
    }
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}
