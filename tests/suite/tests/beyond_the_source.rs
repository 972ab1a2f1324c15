//! What if the destination has more than its source: columns of its own, or constraints that are checked sooner?

use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{assert_says, halted};

#[tokio::test(flavor = "multi_thread")]
async fn a_row_deleted_and_inserted_again_starts_with_the_destinations_defaults_however_it_is_grouped()
 {
    let world = World::new(
        "create table t (id int primary key, v text)",
        "create table t (id int primary key, v text, note text default 'none')",
    )
    .await;
    let spec = world.specification(&["t"]).await.with("t", |resource| {
        let declared = resource
            .columns
            .iter()
            .filter(|column| column.target != "note");
        resource.columns = Vec::leak(declared.copied().collect());
    });
    let spec = spec.build();
    let handle = world.start(spec).await;
    world
        .run("insert into t select n, 'first' from generate_series(1, 5) n")
        .await;
    world.caught_up().await;
    let note = "update t set note = 'written here'";
    world.destination.batch_execute(note).await.unwrap();
    handle.stop().await.unwrap();
    // One transaction, two transactions of one group, several times over, under a new key and back, and an update only.
    world
        .run("begin; delete from t where id = 1; insert into t values (1, 'again'); commit")
        .await;
    world.run("delete from t where id = 2").await;
    world.run("insert into t values (2, 'again')").await;
    world
        .run("begin; delete from t where id = 3; insert into t values (3, 'x'); update t set v = 'y' where id = 3; \
              delete from t where id = 3; insert into t values (3, 'again'); commit")
        .await;
    world
        .run("begin; update t set id = 40 where id = 4; insert into t values (4, 'new'); commit")
        .await;
    world.run("update t set v = 'changed' where id = 5").await;
    let handle = world.start(spec).await;
    world.caught_up().await;
    let all = "select string_agg(format('%s %s %s', id, v, note), ', ' order by id) from t";
    assert_eq!(
        world.destination_text(all).await,
        "1 again none, 2 again none, 3 again none, 4 new none, 5 changed written here, 40 first written here"
    );
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unique_constraint_that_is_checked_sooner_than_on_the_source_stops_where_no_order_helps()
{
    let table = |unique: &str| format!("create table t (id int primary key, pos int {unique})");
    let world = World::new(
        &table("constraint places unique deferrable initially deferred"),
        &table("constraint places unique"),
    )
    .await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t select n, n from generate_series(1, 30000) n")
        .await;
    // Within one batch another order of writing helps.
    world
        .run("update t set pos = 3 - pos where pos in (1, 2)")
        .await;
    assert_equal(&world, &["t"]).await;
    // Across the parts of a large transaction a value is in two rows for a while.
    world.run("update t set pos = pos + 1").await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "destination_unique_conflict",
        &[
            "public.t",
            "23505",
            "constraint \"places\"",
            "make the destination's deferrable too",
        ],
        "a shift",
    );
    world
        .destination
        .batch_execute(
            "alter table t drop constraint places, add constraint places unique (pos) deferrable",
        )
        .await
        .unwrap();
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}
