//! Does every documented way through a change of the source's schema arrive, without a hand on the checkpoint?

use replicant_checkpoint::contract::resource::{
    ColumnSpec, OnSchemaChange, Origin, ResourceSpec, TableName,
};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_sink::decision::{SlotOnSource, reset};
use replicant_sink::doctor::{Verdict, preflight};
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{halted, refused};

const TABLE: &str = "create table t (id int primary key, v text, w int)";

/// The mirror of `t` as a change to its resource declares it.
async fn declared(world: &World, change: impl FnOnce(&mut ResourceSpec)) -> &'static SinkSpec {
    let specification = world.specification(&["t"]).await;
    specification.with("t", change).build()
}

/// Takes a destination column out of the fields and lists it in `skip(...)`.
fn skipping(name: &'static str) -> impl FnOnce(&mut ResourceSpec) {
    move |resource| {
        resource.columns = edited(resource.columns, |column| column.target != name);
        resource.skips = Vec::leak(vec![name]);
    }
}

/// Reads a destination column from another source column, and lists the old name in `skip(...)`.
fn renamed(from: &'static str, to: &'static str) -> impl FnOnce(&mut ResourceSpec) {
    move |resource| {
        resource.columns = edited(resource.columns, |column| {
            if column.target == from {
                column.origin = Origin::Source(to);
            }
            true
        });
        resource.skips = Vec::leak(vec![from]);
    }
}

fn edited(
    columns: &[ColumnSpec],
    mut keep: impl FnMut(&mut ColumnSpec) -> bool,
) -> &'static [ColumnSpec] {
    let mut columns = columns.to_vec();
    columns.retain_mut(&mut keep);
    Vec::leak(columns)
}

/// Every row of `t` in the destination, as text.
async fn held(world: &World) -> String {
    let all = "select coalesce(string_agg(t::text, ' ' order by id), '') from t";
    world.destination_text(all).await
}

/// The pipeline stops by itself for this reason, at this column.
async fn stops_at(handle: Handle, code: &str, column: &str) {
    let error = halted(handle).await;
    assert_eq!(error.code(), code, "{error}");
    assert_eq!(error.site().column.unwrap().as_str(), column, "{error}");
}

/// `preflight` warns of a skip without a column, and of nothing else.
async fn warns_of_stale_skip(world: &World, spec: &'static SinkSpec, column: &str) {
    let report = preflight(&world.pipeline(spec).await).await;
    assert_eq!(report.exit_code, 2, "{report:?}");
    let mut warnings = report
        .checks
        .iter()
        .filter(|one| one.status == Verdict::Warn);
    let warning = warnings.next().unwrap();
    assert_eq!(warning.reason, "source_skip_stale", "{report:?}");
    let detail = warning.detail.as_deref().unwrap();
    assert!(
        detail.contains("public.t") && detail.contains(column),
        "{detail}"
    );
    assert!(warnings.next().is_none(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_is_skipped_and_then_dropped_without_a_stop() {
    let world = World::same(TABLE).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a', 1)").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let spec = declared(&world, skipping("w")).await;
    let handle = world.start(spec).await;
    world.run("insert into t values (2, 'b', 2)").await;
    world
        .run("alter table t drop w; insert into t values (3, 'c')")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    warns_of_stale_skip(&world, spec, "w").await;
    let handle = world.start(spec).await;
    world.run("insert into t values (4, 'd')").await;
    world.caught_up().await;
    assert_eq!(held(&world).await, "(1,a,1) (2,b,) (3,c,) (4,d,)");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_was_dropped_first_is_skipped_afterwards() {
    for policy in [OnSchemaChange::HaltDestructive, OnSchemaChange::Ignore] {
        let world = World::same(TABLE).await;
        let first = declared(&world, |resource| resource.on_schema_change = policy).await;
        let handle = world.start(first).await;
        world.run("insert into t values (1, 'a', 1)").await;
        world.caught_up().await;
        world
            .run(
                "begin; insert into t values (2, 'b', 2); alter table t drop w; \
                  insert into t values (3, 'c'); commit",
            )
            .await;
        if policy == OnSchemaChange::Ignore {
            world.caught_up().await;
            handle.stop().await.unwrap();
        } else {
            stops_at(handle, "schema_change_destructive", "w").await;
        }
        let error = refused(&world.pipeline(first).await).await;
        assert_eq!(error.code(), "source_column_missing", "{error}");
        let spec = declared(&world, skipping("w")).await;
        let handle = world.start(spec).await;
        world.run("update t set v = 'C' where id = 3").await;
        world.caught_up().await;
        // Whether the second row has the value depends on which declaration it was delivered under.
        let expected = match policy {
            OnSchemaChange::Ignore => "(1,a,1) (2,b,2) (3,C,)",
            OnSchemaChange::HaltDestructive => "(1,a,1) (2,b,) (3,C,)",
        };
        assert_eq!(held(&world).await, expected, "{policy:?}");
        handle.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_column_goes_on_under_its_destination_name_and_the_backlog_too() {
    let world = World::same(&format!("{TABLE}; alter table t replica identity full")).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t values (1, 'a', 1), (2, 'b', 2)")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    // Nobody reads while rows are written under both names.
    world
        .run("update t set v = 'A' where id = 1; insert into t values (3, 'c', 3)")
        .await;
    world
        .run(
            "begin; insert into t values (4, 'd', 4); alter table t rename v to remark; \
              insert into t values (5, 'e', 5); commit",
        )
        .await;
    let spec = declared(&world, renamed("v", "remark")).await;
    warns_of_stale_skip(&world, spec, "v").await;
    for _ in 0..2 {
        let handle = world.start(spec).await;
        world.caught_up().await;
        let rows = "(1,A,1) (2,b,2) (3,c,3) (4,d,4) (5,e,5)";
        assert_eq!(held(&world).await, rows);
        handle.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_renamed_while_the_pipeline_runs_stops_it_once() {
    let world = World::same(TABLE).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a', 1)").await;
    world.caught_up().await;
    world
        .run(
            "begin; insert into t values (2, 'b', 2); alter table t rename v to remark; \
              insert into t values (3, 'c', 3); commit",
        )
        .await;
    stops_at(handle, "schema_change_destructive", "v").await;
    let handle = world
        .start(declared(&world, renamed("v", "remark")).await)
        .await;
    world.run("insert into t values (4, 'd', 4)").await;
    world.caught_up().await;
    assert_eq!(held(&world).await, "(1,a,1) (2,b,2) (3,c,3) (4,d,4)");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_key_column_still_finds_the_rows_of_the_backlog() {
    let world = World::same(TABLE).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t values (1, 'a', 1), (2, 'b', 2)")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world
        .run(
            "update t set v = 'A' where id = 1; delete from t where id = 2; \
              update t set id = 7 where id = 1",
        )
        .await;
    world
        .run("alter table t rename id to key; update t set w = 9 where key = 7")
        .await;
    let handle = world
        .start(declared(&world, renamed("id", "key")).await)
        .await;
    world.caught_up().await;
    assert_eq!(held(&world).await, "(7,A,9)");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_column_in_place_of_a_dropped_one_does_not_get_its_values() {
    let world = World::same(TABLE).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a', 1)").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world.run("insert into t values (2, 'old', 2)").await;
    world
        .run(
            "alter table t drop v; alter table t add remark text; \
              insert into t values (3, 3, 'new')",
        )
        .await;
    let handle = world
        .start(declared(&world, renamed("v", "remark")).await)
        .await;
    world.caught_up().await;
    assert_eq!(held(&world).await, "(1,a,1) (2,,2) (3,new,3)");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wider_type_that_overtakes_the_backlog_stops_once_at_the_change() {
    let all = "create table t (id int primary key, v text, w smallint, m int[])";
    for ddl in [TABLE, all] {
        let world = World::same(ddl).await;
        let handle = world.mirror(&["t"]).await;
        world
            .run("insert into t (id, v, w) values (1, 'a', 1)")
            .await;
        world.caught_up().await;
        handle.stop().await.unwrap();
        world
            .run("insert into t (id, v, w) values (2, 'b', 2); update t set w = 3 where id = 1")
            .await;
        for client in [&world.source, &world.destination] {
            client
                .batch_execute("alter table t alter w type bigint")
                .await
                .unwrap();
        }
        world
            .run("insert into t (id, v, w) values (3, 'c', 1::bigint << 40); delete from t where id = 2")
            .await;
        let spec = world.specification(&["t"]).await.build();
        let handle = world.pipeline(spec).await.start().await.unwrap();
        stops_at(handle, "schema_change_destructive", "w").await;
        let ids = "select string_agg(format('%s %s', id, w), ', ' order by id) from t";
        assert_eq!(world.destination_text(ids).await, "1 3, 2 2", "{ddl}");
        let handle = world.start(spec).await;
        assert_equal(&world, &["t"]).await;
        handle.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_no_column_holds_together_with_the_old_one_goes_through_text() {
    let world = World::same("create table t (id int primary key, v text, w text)").await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a', '1')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world.run("insert into t values (2, 'b', '2')").await;
    let alter = "alter table t alter w type int using w::int";
    world.run(alter).await;
    world.run("insert into t values (3, 'c', 3)").await;
    // With the new type the old rows have nowhere to go ...
    world.destination.batch_execute(alter).await.unwrap();
    let spec = world.specification(&["t"]).await.build();
    let error = refused(&world.pipeline(spec).await).await;
    assert_eq!(error.code(), "schema_change_destructive", "{error}");
    assert!(
        error.to_string().contains("from before the type changed"),
        "{error}"
    );
    // ... as text they have, and the new type follows them.
    let back = "alter table t alter w type text";
    world.destination.batch_execute(back).await.unwrap();
    let handle = world.pipeline(spec).await.start().await.unwrap();
    stops_at(handle, "schema_change_destructive", "w").await;
    assert_eq!(held(&world).await, "(1,a,1) (2,b,2)");
    world.destination.batch_execute(alter).await.unwrap();
    let handle = world.start(spec).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_the_contract_does_not_survive_goes_on_after_a_reset_that_keeps_the_slot() {
    let world = World::same(TABLE).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t values (1, 'a', 1), (2, 'b', 2)")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world
        .run("alter table t rename to notes; insert into notes values (3, 'c', 3)")
        .await;
    let spec = declared(&world, |resource| resource.source.table = "notes").await;
    let pipeline = world.pipeline(spec).await;
    let error = refused(&pipeline).await;
    assert_eq!(error.code(), "publication_contract_incompatible", "{error}");
    reset(&pipeline, SlotOnSource::MayStay).await.unwrap();
    let handle = world.start(spec).await;
    world
        .run("update notes set v = 'A' where id = 1; delete from notes where id = 2")
        .await;
    world.caught_up().await;
    assert_eq!(held(&world).await, "(1,A,1) (3,c,3)");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_with_a_default_is_added_in_the_destination_first() {
    let world = World::same(TABLE).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a', 1)").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    // Rows that were written before the column existed and still wait do not have it.
    world.run("insert into t values (2, 'b', 2)").await;
    let add = "alter table t add c int not null default 7";
    world.destination.batch_execute(add).await.unwrap();
    world
        .run(&format!(
            "begin; insert into t values (3, 'c', 3); {add}; insert into t values (4, 'd', 4, 4); \
             update t set c = 1 where id = 1; commit"
        ))
        .await;
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    assert_eq!(
        held(&world).await,
        "(1,a,1,1) (2,b,2,7) (3,c,3,7) (4,d,4,4)"
    );
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_table_is_ignored_while_its_rows_still_wait() {
    let world = World::same(&format!("{TABLE}; create table u (id int primary key)")).await;
    let handle = world
        .start(world.specification(&["t", "u"]).await.build())
        .await;
    world
        .run("insert into t (id) values (1); insert into u values (1)")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world
        .run("insert into u values (2); insert into t (id) values (2); drop table u")
        .await;
    let mut without = world.specification(&["t"]).await;
    without.ignored.push(TableName {
        schema: "public",
        table: "u",
    });
    let spec = without.build();
    let pipeline = world.pipeline(spec).await;
    let error = refused(&pipeline).await;
    assert_eq!(error.code(), "publication_contract_incompatible", "{error}");
    reset(&pipeline, SlotOnSource::MayStay).await.unwrap();
    let handle = world.start(spec).await;
    assert_equal(&world, &["t"]).await;
    let left = "select count(*)::text from u";
    assert_eq!(world.destination_text(left).await, "1");
    handle.stop().await.unwrap();
}
