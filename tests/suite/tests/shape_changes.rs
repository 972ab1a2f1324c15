//! What happens to the mirror when a table changes its shape while it is mirrored?

use replicant_checkpoint::contract::resource::OnSchemaChange;
use replicant_sink::Error;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::refusal::{assert_says, drop_slot};
use replicant_tests::world::{DEADLINE, NUDGE, PUBLICATION};

const TABLE: &str = "create table t (id int primary key, v text, w int)";

/// Why the pipeline stops by itself.
async fn stopped(handle: Handle) -> Error {
    tokio::time::timeout(DEADLINE, handle.join())
        .await
        .unwrap()
        .unwrap_err()
}

/// A world with a running mirror of [`TABLE`] that already holds row 1.
async fn running(ddl: &str) -> (World, Handle) {
    let world = World::same(ddl).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t (id) values (1)").await;
    assert_equal(&world, &["t"]).await;
    (world, handle)
}

async fn ids(world: &World) -> Vec<String> {
    let rows = rows(&world.destination, "t").await;
    rows.into_iter()
        .map(|mut row| row.swap_remove(0).unwrap())
        .collect()
}

/// The pipeline stops for this reason with row 2 applied and nothing after it.
async fn stops(world: &World, handle: Handle, code: &str) -> Error {
    let error = stopped(handle).await;
    assert_eq!(error.code(), code, "{error}");
    assert_eq!(
        ids(world).await,
        ["1", "2"],
        "exactly what came before the change is applied"
    );
    error
}

/// Trying again changes nothing: it stops before the same transaction.
async fn still_stops(world: &World) {
    let watermark = world.watermark().await;
    let again = world
        .pipeline(world.specification(&["t"]).await.build())
        .await;
    stopped(again.start().await.unwrap()).await;
    assert_eq!(world.watermark().await, watermark);
    assert_eq!(ids(world).await, ["1", "2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_described_again_without_a_change_goes_on() {
    let (world, handle) = running(TABLE).await;
    for (place, maintenance) in [
        "analyze t",
        "vacuum t",
        "vacuum full t",
        "create index on t (w)",
        "cluster t using t_pkey",
        "comment on table t is 'x'",
        "alter table t alter w set default 7",
        "alter table t alter v set storage external",
        "alter table t add constraint c check (w is distinct from 13)",
        "alter table t set (fillfactor = 50)",
        "create statistics s on v, w from t",
    ]
    .into_iter()
    .enumerate()
    {
        world.run(maintenance).await;
        world
            .run(&format!(
                "insert into t values ({}, 'x', 1); update t set w = w + 1",
                place + 2
            ))
            .await;
    }
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_added_column_stops_before_its_first_row_until_it_is_mapped() {
    let (world, handle) = running(TABLE).await;
    world.run("insert into t (id) values (2)").await;
    world
        .run("alter table t add c int; insert into t values (3, 'x', 1, 4)")
        .await;
    world.run("update t set c = 5 where id = 1").await;
    let error = stops(&world, handle, "source_column_unmapped").await;
    assert_eq!(error.site().column.unwrap().as_str(), "c");
    still_stops(&world).await;
    world
        .destination
        .batch_execute("alter table t add c int")
        .await
        .unwrap();
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_from_before_a_mapped_column_existed_arrive_without_it_where_that_is_ignored() {
    let (world, handle) = running(TABLE).await;
    handle.stop().await.unwrap();
    world
        .run(
            "begin; insert into t values (2, 'old', 0); alter table t add c int; \
             insert into t values (3, 'new', 0, 3); update t set w = 1 where id = 2; commit",
        )
        .await;
    world.run("update t set c = 7 where id = 1").await;
    world
        .destination
        .batch_execute("alter table t add c int")
        .await
        .unwrap();
    let handle = world.start(ignoring(&world).await).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

async fn ignoring(world: &World) -> &'static replicant_checkpoint::contract::sink::SinkSpec {
    let spec = world.specification(&["t"]).await;
    spec.with("t", |resource| {
        resource.on_schema_change = OnSchemaChange::Ignore
    })
    .build()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_column_stops_and_stays_part_of_the_contract() {
    let (world, handle) = running(TABLE).await;
    world.run("insert into t values (2, 'kept', 2)").await;
    world
        .run("alter table t drop w; insert into t values (3, 'x')")
        .await;
    stops(&world, handle, "schema_change_destructive").await;
    // What was promised once is not given up by declaring less.
    world
        .destination
        .batch_execute("alter table t drop w")
        .await
        .unwrap();
    let narrower = world
        .pipeline(world.specification(&["t"]).await.build())
        .await;
    let error = stopped(narrower.start().await.unwrap()).await;
    assert_eq!(error.code(), "publication_contract_incompatible", "{error}");
    assert_eq!(error.site().column.unwrap().as_str(), "w");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_column_that_is_ignored_keeps_what_it_held() {
    let world = World::same(TABLE).await;
    let handle = world.start(ignoring(&world).await).await;
    world
        .run("insert into t values (1, 'a', 7), (2, 'b', 8)")
        .await;
    world
        .run(
            "begin; update t set w = 9 where id = 2; alter table t drop w; insert into t values (3, 'c'); \
             update t set v = 'B' where id = 2; commit",
        )
        .await;
    world.caught_up().await;
    let all = "select string_agg(format('%s %s %s', id, v, w), ', ' order by id) from t";
    assert_eq!(world.destination_text(all).await, "1 a 7, 2 B 9, 3 c ");
    handle.stop().await.unwrap();
}

/// A change of the source's table under a running mirror.
struct Change {
    policy: OnSchemaChange,
    /// How the table was made different from [`TABLE`] before.
    made: &'static str,
    /// The change, and a row after it.
    change: &'static str,
    code: &'static str,
    /// What the message names.
    at: &'static str,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_rows_do_not_survive_stops_before_the_first_row_after_it() {
    use OnSchemaChange::{HaltDestructive, Ignore};
    let change = |policy, change, code, at| Change {
        policy,
        made: "",
        change,
        code,
        at,
    };
    let destructive = "schema_change_destructive";
    let mut changes = vec![
        change(
            HaltDestructive,
            "alter table t rename v to vv; insert into t values (3, 'x', 1)",
            destructive,
            "column v",
        ),
        change(
            HaltDestructive,
            "alter table t rename to tt; insert into tt values (3, 'x', 1)",
            "source_table_unmapped",
            "public.tt",
        ),
    ];
    for policy in [HaltDestructive, Ignore] {
        changes.extend([
            change(
                policy,
                "alter table t add c int; insert into t values (3, 'x', 1, 4)",
                "source_column_unmapped",
                "column c",
            ),
            change(
                policy,
                "alter table t alter w type bigint; insert into t values (3, 'x', 1)",
                destructive,
                "column w",
            ),
            change(
                policy,
                "alter table t drop w; alter table t add w int; insert into t values (3, 'x', 1)",
                "source_column_replaced",
                "column w",
            ),
            change(
                policy,
                "drop table t; create table t (id int primary key, v text, w int); \
                 insert into t (id) values (3)",
                destructive,
                "public.t",
            ),
            change(
                policy,
                "alter table t replica identity full; insert into t values (3, 'x', 1)",
                destructive,
                "public.t",
            ),
            Change {
                made: "alter table t replica identity full",
                ..change(
                    policy,
                    "alter table t replica identity default; insert into t values (3, 'x', 1)",
                    destructive,
                    "public.t",
                )
            },
        ]);
    }
    for case in changes {
        let world = World::same(&format!("{TABLE}; {}", case.made)).await;
        let spec = world.specification(&["t"]).await;
        let spec = spec.with("t", |resource| resource.on_schema_change = case.policy);
        let handle = world.start(spec.build()).await;
        world.run("insert into t (id) values (1)").await;
        world.run("insert into t (id) values (2)").await;
        world.caught_up().await;
        world.run(case.change).await;
        let what = format!("{:?}: {}", case.policy, case.change);
        assert_says(&stopped(handle).await, case.code, &[case.at], &what);
        assert_eq!(ids(&world).await, ["1", "2"], "{what}");
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_enum_label_the_destination_lacks_stops_at_its_table_and_is_not_printed() {
    let ddl =
        "create type mood as enum ('ok'); create table t (id int primary key, v mood, m mood[])";
    let (world, handle) = running(ddl).await;
    world.run("insert into t (id) values (2)").await;
    world.run("alter type mood add value 'zzsecret'").await;
    world
        .run("insert into t values (3, 'ok', '{ok,zzsecret}'), (4, 'zzsecret', null)")
        .await;
    let error = stops(&world, handle, "destination_rejected").await;
    still_stops(&world).await;
    assert_eq!(error.site().table.unwrap().to_string(), "public.t");
    assert_eq!(error.site().sqlstate.unwrap().as_str(), "22P02");
    let printed = format!("{error} {error:?}");
    assert!(!printed.contains("zzsecret"), "the value is printed");
    world
        .destination
        .batch_execute("alter type mood add value 'zzsecret'")
        .await
        .unwrap();
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_left_the_publication_stops_at_the_next_session() {
    let world = World::same(TABLE).await;
    world
        .run(&format!(
            "drop publication {PUBLICATION}; create publication {PUBLICATION} for table t, {NUDGE}"
        ))
        .await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t (id) values (1), (2)").await;
    world.caught_up().await;
    world
        .run(&format!("alter publication {PUBLICATION} drop table t"))
        .await;
    let walsenders =
        "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = $1";
    world
        .source
        .execute(walsenders, &[&world.slot])
        .await
        .unwrap();
    let error = stopped(handle).await;
    assert_eq!(error.code(), "source_table_missing", "{error}");
    assert_eq!(error.site().table.unwrap().to_string(), "public.t");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_joined_the_publication_stops_before_its_first_row() {
    let (world, handle) = running(TABLE).await;
    world.run("insert into t (id) values (2)").await;
    world
        .run(
            "create table extra (id int primary key); \
             begin; insert into t (id) values (3); insert into extra values (1); commit",
        )
        .await;
    let error = stops(&world, handle, "source_table_unmapped").await;
    assert_eq!(error.site().table.unwrap().to_string(), "public.extra");
    world
        .destination
        .batch_execute("create table extra (id int primary key)")
        .await
        .unwrap();
    let handle = world
        .start(world.specification(&["t", "extra"]).await.build())
        .await;
    assert_equal(&world, &["t", "extra"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harmless_change_in_the_middle_of_a_transaction_is_read_with_both_shapes() {
    let world = World::new(
        "create table t (id int primary key, v varchar(3), n numeric(4,1))",
        "create table t (id int primary key, v varchar(9), n numeric(9,3))",
    )
    .await;
    let handle = world.mirror(&["t"]).await;
    world
        .run(
            "begin; insert into t values (1, 'abc', 1.5); alter table t alter v type varchar(5); \
             alter table t alter n type numeric(6,3); insert into t values (2, 'abcde', 1.125); \
             savepoint s; alter table t alter v type varchar; insert into t values (4, 'abcdefghijk', 1); \
             rollback to s; update t set v = 'x' where id = 1; insert into t values (3, 'y', 2); commit",
        )
        .await;
    world.caught_up().await;
    let all = "select string_agg(format('%s %s %s', id, v, n), ', ' order by id) from t";
    assert_eq!(
        world.destination_text(all).await,
        "1 x 1.500, 2 abcde 1.125, 3 y 2.000"
    );
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_the_middle_of_a_transaction_leaves_nothing_of_it() {
    let (world, handle) = running(TABLE).await;
    world.run("insert into t (id) values (2)").await;
    world
        .run(
            "begin; insert into t (id) values (3); update t set v = 'x'; alter table t add c int; \
             insert into t values (4, 'x', 1, 4); commit",
        )
        .await;
    stops(&world, handle, "source_column_unmapped").await;
    still_stops(&world).await;
    let touched = "select count(*)::text from t where v is not null";
    assert_eq!(world.destination_text(touched).await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_from_before_a_column_was_added_still_arrive() {
    let world = World::same("create table t (id int primary key, v text)").await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    // Written while nobody read, before the column exists.
    world.run("insert into t values (2, 'b')").await;
    world.run("update t set v = 'c' where id = 1").await;
    for client in [&world.source, &world.destination] {
        client
            .batch_execute("alter table t add column n int")
            .await
            .unwrap();
    }
    world.run("insert into t values (3, 'd', 4)").await;
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}
