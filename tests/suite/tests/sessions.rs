//! Does every option, login, server and slot that cannot be used say so by its own name, on a start and in preflight?

use std::sync::Arc;

use replicant_sink::doctor;
use replicant_sink::options::{Availability, KEYS};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::{ClusterBuilder, Installation};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{
    assert_says, drop_slot, has_checkpoint_tables, positions, refused, retrying, slot_exists,
};

const BASE: &str = "create table t (id int primary key, v text)";

/// A pipeline nobody could connect with; reading options needs no server.
async fn unconnected() -> Pipeline {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    Pipeline::of_spec(spec).named("shop")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_option_is_refused_by_its_key_and_never_quotes_its_value() {
    let pipeline = unconnected().await;
    for key in KEYS {
        let name = key.name;
        let (line, code) = match (key.availability, name) {
            (Availability::NotYet, _) => (format!("{name} = 'canary'"), "option_not_available"),
            (_, "start" | "source_identity" | "destination_constraints" | "max_inflight_lag") => {
                (format!("{name} = 'canary'"), "config_invalid")
            }
            (..) => (format!("{name} = 4242"), "config_invalid"),
        };
        let error = pipeline
            .clone()
            .configured_by_toml(&format!("[shop]\n{line}"))
            .unwrap_err();
        assert_says(&error, code, &[&format!("option {name}")], name);
        let shown = error.to_string();
        assert!(
            !shown.contains("canary") && !shown.contains("4242"),
            "{shown}"
        );
    }
    for (text, mention) in [
        ("[shop]\nsorce = 'canary'", "known keys: source"),
        ("[shop]\nsource = 'canary", "line 2, column"),
        ("shop = 'canary'", "must be a table"),
    ] {
        let error = pipeline.clone().configured_by_toml(text).unwrap_err();
        assert_says(&error, "config_invalid", &[mention], text);
        assert!(!error.to_string().contains("canary"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_names_everything_that_is_missing() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let source = world.cluster.conninfo(&world.source_database);
    let destination = world.cluster.conninfo(&world.destination_database);
    let nothing = Pipeline::of_spec(spec);
    assert_says(
        &refused(&nothing).await,
        "config_invalid",
        &[
            "missing: source (or ",
            ", destination (or ",
            ", publication (or ",
        ],
        "nothing",
    );
    let ends = nothing
        .source(source)
        .destination(destination)
        .publication("everything");
    assert_says(
        &refused(&ends).await,
        "source_identity_required",
        &["option source_identity", "preflight"],
        "identity",
    );
    let identity = world
        .cluster
        .source_identity(&world.source_database)
        .await
        .unwrap();
    let named = ends.clone().source_identity(&identity);
    assert_says(
        &refused(&named).await,
        "start_mode_required",
        &["option start", "go_forward"],
        "start mode",
    );
    for (pipeline, option) in [
        (named.clone().publication(""), "option publication"),
        (
            named.clone().source_identity("nonsense"),
            "option source_identity",
        ),
        (named.clone().source("host='unterminated"), ""),
        (
            named.clone().destination("port=nonsense host=x"),
            "option port",
        ),
    ] {
        assert_says(
            &refused(&pipeline.go_forward()).await,
            "config_invalid",
            &[option],
            option,
        );
    }
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_that_maps_nothing_does_not_start_and_moves_nothing() {
    let world = World::same(BASE).await;
    let nothing = world.specification(&[]).await.build();
    let pipeline = world.pipeline(nothing).await;
    let mentions = ["option domains", "maps no table and routes no message"];
    let error = refused(&pipeline).await;
    assert_says(&error, "config_invalid", &mentions, "nothing mapped");
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
    let report = doctor::preflight(&pipeline).await;
    assert_eq!(report.exit_code, 1, "{report:?}");
    // Nor does it when there was a table before: the checkpoint stays where it is.
    let spec = world.specification(&["t"]).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    let stored = positions(&world).await;
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "config_invalid",
        &mentions,
        "nothing mapped any more",
    );
    assert_eq!(positions(&world).await, stored);
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipeline_that_runs_in_this_process_is_not_started_twice() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let handle = world.start(spec).await;
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(&error, "slot_already_active", &[world.slot], "twice");
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    world.start(spec).await.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refused_login_says_which_side_and_why() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let role = format!("role_{}", world.slot);
    world
        .run(&format!(
            "create role {role} login replication password 'right'; create role {role}_plain login"
        ))
        .await;
    world
        .cluster
        .access_rule(&format!(
            "host all,replication {role} 127.0.0.1/32 scram-sha-256"
        ))
        .unwrap();
    world.run("select pg_reload_conf()").await;
    let address = format!(
        "host=127.0.0.1 port={} sslmode=disable",
        world.cluster.port()
    );
    let of = |user: &str, database: &str| format!("{address} user={user} dbname={database}");
    let source = |user: &str| of(user, &world.source_database);
    let destination = |user: &str| of(user, &world.destination_database);
    let nowhere = of("postgres", "nowhere");
    for (pipeline, code, mentions, exit) in [
        (
            good.clone()
                .source(format!("{} password=wrong", source(&role))),
            "authentication_failed",
            &["28P01"][..],
            3,
        ),
        (
            good.clone()
                .destination(format!("{} password=wrong", destination(&role))),
            "destination_auth",
            &["28P01"],
            3,
        ),
        (
            good.clone().source(source(&role)),
            "password_missing",
            &[],
            3,
        ),
        (
            good.clone().destination(destination(&role)),
            "password_missing",
            &["option destination"],
            3,
        ),
        (
            good.clone().source(&nowhere),
            "database_missing",
            &["3D000"],
            3,
        ),
        (
            good.clone().destination(&nowhere),
            "database_missing",
            &["option destination", "3D000"],
            3,
        ),
        (
            good.clone().source(source(&format!("{role}_plain"))),
            "privilege_missing",
            &["REPLICATION"],
            1,
        ),
        (
            good.clone()
                .source_identity(&format!("1/{}", world.source_database)),
            "source_identity_mismatch",
            &[],
            1,
        ),
        (
            good.clone().publication("absent"),
            "publication_missing",
            &["absent"],
            1,
        ),
        (
            good.clone()
                .source("host=127.0.0.1 port=1 user=x sslmode=verify-full sslrootcert=/absent"),
            "tls_file_unusable",
            &[],
            3,
        ),
    ] {
        let error = refused(&pipeline).await;
        assert_says(&error, code, mentions, code);
        assert!(!error.to_string().contains("wrong"), "{error}");
        let report = doctor::preflight(&pipeline).await;
        assert_eq!(report.exit_code, exit, "{code}: {report:?}");
        assert!(
            report.checks.iter().any(|check| check.reason == code),
            "{report:?}"
        );
        assert!(
            !slot_exists(&world).await && !has_checkpoint_tables(&world).await,
            "{code}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn publications_that_send_different_columns_of_one_table_are_refused() {
    let world = World::same(BASE).await;
    // Before, a publication sends whole rows.
    if world.major() < 15 {
        return;
    }
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await.publication("narrow");
    world
        .run("create publication narrow for table t (id)")
        .await;
    let error = refused(&pipeline).await;
    let code = "publication_column_lists_differ";
    assert_says(&error, code, &["public.t"], code);
    assert!(!slot_exists(&world).await);
    assert_eq!(doctor::preflight(&pipeline).await.exit_code, 1);
    world.run("alter publication narrow set table t").await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_time_may_heal_is_tried_again_and_heals() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let role = format!("role_{}", world.slot);
    world
        .run(&format!("create role {role} login connection limit 0"))
        .await;
    let of = |database: &str| {
        world
            .cluster
            .conninfo(database)
            .replace("user=postgres", &format!("user={role}"))
    };
    let nowhere = "host=127.0.0.1 port=1 user=postgres dbname=x";
    for (pipeline, code, exit) in [
        (good.clone().source(nowhere), "source_unreachable", 3),
        (
            good.clone().destination(nowhere),
            "destination_unreachable",
            3,
        ),
        (
            good.clone()
                .source("host=no.such.host.invalid user=x dbname=x"),
            "host_not_found",
            3,
        ),
        (
            good.clone().destination(of(&world.destination_database)),
            "destination_unreachable",
            3,
        ),
    ] {
        let report = doctor::preflight(&pipeline).await;
        assert_eq!(report.exit_code, exit, "{code}: {report:?}");
        let handle = pipeline.start().await.unwrap();
        retrying(&handle, code).await;
        assert!(
            !slot_exists(&world).await && !has_checkpoint_tables(&world).await,
            "{code}"
        );
        handle.stop().await.unwrap();
    }
    let crowded = good.clone().destination(of(&world.destination_database));
    let mut handle = crowded.start().await.unwrap();
    retrying(&handle, "destination_unreachable").await;
    world
        .run(&format!("alter role {role} connection limit -1 superuser"))
        .await;
    handle.ready().await.unwrap();
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_is_not_ours_is_refused_and_left_alone() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let slot = world.slot;
    for (create, code) in [
        (
            format!("select pg_create_physical_replication_slot('{slot}')"),
            "slot_not_logical",
        ),
        (
            format!("select pg_create_logical_replication_slot('{slot}', 'test_decoding')"),
            "slot_plugin_mismatch",
        ),
    ] {
        world.run(&create).await;
        let error = refused(&pipeline).await;
        assert_says(&error, code, &["slot name"], code);
        assert!(slot_exists(&world).await, "{code}");
        assert!(
            positions(&world).await.is_none_or(|at| at == (None, None)),
            "{code}"
        );
        drop_slot(&world).await;
    }
    let elsewhere = world
        .cluster
        .connect(&world.destination_database)
        .await
        .unwrap();
    let create = format!("select pg_create_logical_replication_slot('{slot}', 'pgoutput')");
    elsewhere.batch_execute(&create).await.unwrap();
    assert_says(
        &refused(&pipeline).await,
        "slot_database_mismatch",
        &["dbname"],
        "elsewhere",
    );
    elsewhere
        .batch_execute(&format!("select pg_drop_replication_slot('{slot}')"))
        .await
        .unwrap();
    world.start(spec).await.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_slot_stops_the_mirror_and_is_not_created_again() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    world.start(spec).await.stop().await.unwrap();
    let stored = positions(&world).await;
    drop_slot(&world).await;
    world.run("insert into t values (1, 'lost')").await;
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "slot_missing",
        &["fill the mirror again"],
        "dropped",
    );
    assert!(!slot_exists(&world).await);
    assert_eq!(positions(&world).await, stored);
    // Somebody made a new one of that name: what lies between is gone all the same.
    let create = format!(
        "select pg_create_logical_replication_slot('{}', 'pgoutput')",
        world.slot
    );
    world.run(&create).await;
    let error = refused(&world.pipeline(spec).await).await;
    assert_says(
        &error,
        "destination_behind_slot",
        &["the slot starts at"],
        "made anew",
    );
    assert_eq!(positions(&world).await, stored);
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_without_room_or_level_for_a_slot_is_refused() {
    let installation = Installation::selected().unwrap();
    let cluster = ClusterBuilder::new(&installation)
        .setting("max_replication_slots", "1")
        .start()
        .unwrap();
    let mut world = World::on(Arc::new(cluster), BASE, BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    world
        .run("select pg_create_physical_replication_slot('only')")
        .await;
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "slots_exhausted",
        &["max_replication_slots"],
        "no room",
    );
    assert!(!slot_exists(&world).await);
    world.run("select pg_drop_replication_slot('only')").await;
    world.run("alter system set wal_level = 'replica'").await;
    restart(&mut world).await;
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "wal_level_not_logical",
        &["alter system set wal_level"],
        "level",
    );
    assert_eq!(
        doctor::preflight(&pipeline).await.exit_code,
        1,
        "it answered"
    );
    world.run("alter system set wal_level = 'logical'").await;
    restart(&mut world).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

async fn restart(world: &mut World) {
    Arc::get_mut(&mut world.cluster).unwrap().restart().unwrap();
    world.source = world.cluster.connect(&world.source_database).await.unwrap();
    world.destination = world
        .cluster
        .connect(&world.destination_database)
        .await
        .unwrap();
}
