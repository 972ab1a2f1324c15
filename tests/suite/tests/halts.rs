//! What does a running mirror do when the destination refuses a row: try again, wait, or stop exactly before it?

use replicant_checkpoint::contract::resource::OnTruncate;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{assert_says, drop_slot, halted, positions};
use replicant_tests::world::DEADLINE;
use replicant_transport::reason::Class;

const BASE: &str = "create table t (id int primary key, v text)";

/// A check on the destination's `t` that does `then` for rows of this text, the first `times` times.
async fn poison(world: &World, row: &str, times: i64, then: &str) {
    let sql = format!(
        "alter table t drop constraint if exists taste;
         drop sequence if exists tries; create sequence tries;
         create or replace function taste(v text) returns boolean language plpgsql as $$ begin
           if v = '{row}' and nextval('public.tries') <= {times} then {then}; end if;
           return true;
         end $$;
         alter table t add constraint taste check (public.taste(v)) not valid"
    );
    world.destination.batch_execute(&sql).await.unwrap();
}

fn raise(state: &str) -> String {
    format!("raise exception 'no' using errcode = '{state}'")
}

async fn tries(world: &World) -> i64 {
    world
        .destination
        .query_one("select last_value from tries", &[])
        .await
        .unwrap()
        .get(0)
}

async fn source_position(world: &World) -> i64 {
    world
        .source
        .query_one("select (pg_current_wal_insert_lsn() - '0/0')::bigint", &[])
        .await
        .unwrap()
        .get(0)
}

/// Neither the destination nor the slot is past this source position.
async fn assert_stopped_before(world: &World, before: i64, case: &str) {
    let Some((Some(watermark), Some(acked))) = positions(world).await else {
        panic!("{case}: no positions")
    };
    assert!(watermark < before && acked <= before, "{case}");
    let confirmed: i64 = world
        .source
        .query_one(
            "select (confirmed_flush_lsn - '0/0')::bigint from pg_replication_slots where slot_name = $1",
            &[&world.slot],
        )
        .await
        .unwrap()
        .get(0);
    assert!(confirmed <= before, "{case}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_row_stops_the_mirror_exactly_before_its_transaction() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let expected = [
        ("53100", "destination_full"),
        ("53200", "destination_full"),
        ("53300", "destination_full"),
        ("54000", "destination_full"),
        ("58030", "destination_full"),
        ("25006", "destination_read_only"),
        ("42501", "destination_privilege"),
        ("23503", "destination_foreign_key_violated"),
        ("23505", "destination_unique_conflict"),
        ("23514", "destination_rejected"),
        ("22001", "destination_rejected"),
        ("57014", "destination_rejected"),
        ("57P04", "destination_rejected"),
        ("XX000", "destination_rejected"),
    ];
    for (number, (state, code)) in expected.into_iter().enumerate() {
        let bad = format!("poison {number}");
        poison(&world, &bad, 1000, &raise(state)).await;
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        world
            .run(&format!("insert into t values ({number}0, 'good')"))
            .await;
        let before = source_position(&world).await;
        world
            .run(&format!("insert into t values ({number}1, '{bad}')"))
            .await;
        world
            .run(&format!("insert into t values ({number}2, 'after')"))
            .await;
        let error = halted(handle).await;
        assert_says(&error, code, &[state, "public.t"], state);
        assert_eq!(error.class(), Class::Terminal, "{state}");
        let there: Vec<i32> = world
            .destination
            .query(
                "select id from t where id / 10 = $1 order by id",
                &[&i32::try_from(number).unwrap()],
            )
            .await
            .unwrap()
            .iter()
            .map(|row| row.get(0))
            .collect();
        assert_eq!(there, [i32::try_from(number * 10).unwrap()], "{state}");
        assert_stopped_before(&world, before, state).await;
        world
            .destination
            .batch_execute("alter table t drop constraint taste")
            .await
            .unwrap();
    }
    let handle = pipeline.start().await.unwrap();
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn contention_is_tried_again_six_times_and_then_stops() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    for state in ["40001", "40P01", "55P03"] {
        poison(&world, "poison", 6, &raise(state)).await;
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        world
            .run("truncate t; insert into t values (1, 'poison')")
            .await;
        assert_equal(&world, &["t"]).await;
        assert_eq!(
            tries(&world).await,
            7,
            "{state}: six failures, then success"
        );
        handle.stop().await.unwrap();
    }
    poison(&world, "poison", 1000, &raise("40001")).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    let before = source_position(&world).await;
    world.run("insert into t values (2, 'poison')").await;
    let error = halted(handle).await;
    assert_says(&error, "destination_contended", &["40001"], "contended");
    assert_eq!(tries(&world).await, 7, "one try and six more");
    assert_stopped_before(&world, before, "contended").await;
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_tried_again_without_a_limit_and_with_growing_pauses() {
    let world = World::same(BASE).await;
    let ended = "perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(0.01)";
    poison(&world, "poison", 8, ended).await;
    let handle = world.mirror(&["t"]).await;
    let started = std::time::Instant::now();
    world.run("insert into t values (1, 'poison')").await;
    assert_equal(&world, &["t"]).await;
    assert_eq!(tries(&world).await, 9, "more often than contention is");
    // Jitter may make every pause short, but hardly the sum of eight that double from 50 ms.
    assert!(started.elapsed() > std::time::Duration::from_millis(500));
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_with_another_session_resolves_itself() {
    let world = World::same(
        "create table t (id int primary key, v text); create table u (id int primary key, v text)",
    )
    .await;
    let handle = world.mirror(&["t", "u"]).await;
    world
        .run("insert into t values (1, 'a'); insert into u values (1, 'a')")
        .await;
    world.caught_up().await;
    let other = world
        .cluster
        .connect(&world.destination_database)
        .await
        .unwrap();
    // The other session holds u and will want t; delivery takes t first and will want u.
    other
        .batch_execute("set deadlock_timeout = '60s'; begin; update u set v = 'other' where id = 1")
        .await
        .unwrap();
    world
        .run("begin; update t set v = 'b' where id = 1; update u set v = 'b' where id = 1; commit")
        .await;
    let blocked = "select true from pg_stat_activity where application_name like 'replicant%' \
                   and datname = current_database() and wait_event_type = 'Lock'";
    wait_for(
        "delivery to wait for the other session",
        DEADLINE,
        async || world.destination.query_opt(blocked, &[]).await.unwrap(),
    )
    .await
    .unwrap();
    // Whoever is chosen as the victim, the mirror must arrive.
    let _ = other
        .batch_execute("update t set v = 'other' where id = 1")
        .await;
    let _ = other.batch_execute("rollback").await;
    assert_equal(&world, &["t", "u"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_database_that_is_dropped_stops_the_mirror() {
    let world = World::same(BASE).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let name = &world.destination_database;
    let drop = format!("drop database {name}");
    if world.major() < 13 {
        // It has no `force`: the mirror comes back until once it comes too late.
        let end = format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        );
        let dropped = wait_for("the database to be dropped", DEADLINE, async || {
            world.source.batch_execute(&end).await.ok()?;
            world.source.batch_execute(&drop).await.ok()
        });
        dropped.await.unwrap();
    } else {
        world.run(&format!("{drop} with (force)")).await;
    }
    world.run("insert into t values (2, 'b')").await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "database_missing",
        &["option destination", "3D000"],
        "dropped",
    );
    drop_slot(&world).await;
}

/// One way in which the rows themselves do not fit.
struct Misfit {
    destination: &'static str,
    /// Run in the destination once the mirror streams.
    meanwhile: &'static str,
    source: &'static str,
    code: &'static str,
    mentions: &'static [&'static str],
    repair: &'static str,
}

const FITS: Misfit = Misfit {
    destination: "",
    meanwhile: "",
    source: "",
    code: "",
    mentions: &[],
    repair: "",
};

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_contradict_the_destination_stop_the_mirror_until_it_is_repaired() {
    let cases = [
        Misfit {
            destination: "alter table t add constraint one unique (v); insert into t values (-1, 'taken')",
            source: "insert into t values (2, 'taken')",
            code: "destination_unique_conflict",
            mentions: &["public.t", "23505", "constraint \"one\""],
            repair: "delete from t where id = -1",
            ..FITS
        },
        Misfit {
            destination: "create unique index \"no twins\" on t (upper(v)); insert into t values (-1, 'taken')",
            source: "insert into t values (2, 'Taken'); update t set v = 'other' where id = 1",
            code: "destination_unique_conflict",
            mentions: &["public.t", "23505", "constraint \"no twins\""],
            repair: "delete from t where id = -1",
            ..FITS
        },
        Misfit {
            destination: "alter table t add constraint late unique (v) deferrable; insert into t values (-1, 'taken')",
            source: "insert into t values (2, 'taken')",
            code: "destination_unique_conflict",
            mentions: &["public.t", "23505", "at COMMIT, constraint \"late\""],
            repair: "delete from t where id = -1",
            ..FITS
        },
        Misfit {
            destination: "create table parent (v text primary key); insert into parent values ('first'); \
                          alter table t add foreign key (v) references parent deferrable",
            source: "insert into t values (2, 'orphan')",
            code: "destination_foreign_key_violated",
            mentions: &["public.t", "23503", "at COMMIT, constraint \"t_v_fkey\""],
            repair: "insert into parent values ('orphan')",
            ..FITS
        },
        Misfit {
            meanwhile: "delete from t where id = 1",
            source: "update t set v = 'lost' where id = 1",
            code: "destination_diverged",
            mentions: &["public.t"],
            repair: "insert into t values (1, 'first')",
            ..FITS
        },
        Misfit {
            destination: "alter table t add check (length(v) < 10)",
            source: "insert into t values (2, 'much longer than ten')",
            code: "destination_rejected",
            mentions: &["public.t", "23514", "constraint \"t_v_check\""],
            repair: "alter table t drop constraint t_v_check",
            ..FITS
        },
        Misfit {
            destination: "drop table t; create table t (id int primary key, v text) partition by range (id); \
                          create table leaf partition of t default; \
                          alter table leaf add constraint short check (length(v) < 10)",
            source: "insert into t values (2, 'much longer than ten')",
            code: "destination_rejected",
            mentions: &["public.t", "23514", "constraint \"short\""],
            repair: "alter table leaf drop constraint short",
            ..FITS
        },
        Misfit {
            meanwhile: "alter table t alter v set not null",
            source: "insert into t values (2, null)",
            code: "destination_rejected",
            mentions: &["public.t", "23502", "column v"],
            repair: "alter table t alter v drop not null",
            ..FITS
        },
    ];
    for case in cases {
        let world = World::same(BASE).await;
        world
            .destination
            .batch_execute(case.destination)
            .await
            .unwrap();
        let spec = world.specification(&["t"]).await.build();
        let pipeline = world.pipeline(spec).await;
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        world.run("insert into t values (1, 'first')").await;
        world.caught_up().await;
        let meanwhile = world.destination.batch_execute(case.meanwhile).await;
        meanwhile.unwrap();
        let before = source_position(&world).await;
        world.run(case.source).await;
        let error = halted(handle).await;
        assert_says(&error, case.code, case.mentions, case.code);
        assert_stopped_before(&world, before, case.code).await;
        world.destination.batch_execute(case.repair).await.unwrap();
        let handle = pipeline.start().await.unwrap();
        assert_equal(&world, &["t"]).await;
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncate_stops_where_the_declaration_says_so() {
    let world = World::same(BASE).await;
    let spec = world
        .specification(&["t"])
        .await
        .with("t", |resource| resource.on_truncate = OnTruncate::Halt)
        .build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let before = source_position(&world).await;
    world.run("truncate t").await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "truncate_halt",
        &["public.t", "on_truncate = mirror"],
        "truncate",
    );
    assert_eq!(error.class(), Class::OperatorDecision);
    assert_stopped_before(&world, before, "truncate").await;
    let there = world.destination_text("select count(*)::text from t").await;
    assert_eq!(there, "1");
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_column_that_outgrows_its_mirror_stops_before_the_first_row_that_might_not_fit() {
    let world = World::same("create table t (id int primary key, v varchar(5))").await;
    let spec = world.specification(&["t"]).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'short')").await;
    world.caught_up().await;
    let before = source_position(&world).await;
    world.run("alter table t alter column v type varchar(50); insert into t values (2, 'much longer')").await;
    let error = halted(handle).await;
    let named = ["public.t", "column v"];
    assert_says(&error, "type_modifier_widened", &named, "widened");
    assert_stopped_before(&world, before, "widened").await;
    let widen = "alter table t alter column v type varchar(50)";
    world.destination.batch_execute(widen).await.unwrap();
    let handle = world.start(spec).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_that_another_process_took_over_writes_nothing_more() {
    let world = World::same(BASE).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let before = source_position(&world).await;
    let taken = "update replicant.replicant_leases set epoch = epoch + 1; \
                 update replicant.replicant_watermarks set epoch = epoch + 1";
    world.destination.batch_execute(taken).await.unwrap();
    world.run("insert into t values (2, 'b')").await;
    let error = halted(handle).await;
    assert_says(&error, "lease_lost", &[], "taken over");
    assert_stopped_before(&world, before, "taken over").await;
    let there = world.destination_text("select count(*)::text from t").await;
    assert_eq!(there, "1");
    drop_slot(&world).await;
}
