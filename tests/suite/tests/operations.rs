//! What does an operator see from outside: phases, lag, reports, and that nothing is written when nothing happened?

use replicant_cli::Exit;
use replicant_sink::doctor::{self, Verdict};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{
    checkpoint_text, drop_slot, has_checkpoint_tables, positions, slot_exists,
};
use replicant_tests::world::DEADLINE;
use replicant_transport::pipeline::Phase;

const BASE: &str = "create table t (id int primary key, v text)";

#[tokio::test(flavor = "multi_thread")]
async fn phases_counts_and_lag_can_be_watched_from_outside() {
    let world = World::same(BASE).await;
    let handle = world.mirror(&["t"]).await;
    let mut status = handle.status_changes();
    let streaming = status.wait_for(|status| status.phase == Phase::Streaming);
    tokio::time::timeout(DEADLINE, streaming)
        .await
        .unwrap()
        .unwrap();
    world.run("insert into t values (1, 'a'), (2, 'b')").await;
    world.run("insert into t values (3, 'c')").await;
    world.caught_up().await;
    let arrived = handle.progress();
    assert!(
        arrived.transactions >= 2 && arrived.changes >= 3 && arrived.groups >= 1,
        "{arrived:?}"
    );
    assert!(arrived.committed_at.is_some());

    // Somebody locks the table: what was received and is not durable is the lag.
    let other = world
        .cluster
        .connect(&world.destination_database)
        .await
        .unwrap();
    other.batch_execute("begin; lock table t").await.unwrap();
    world
        .run("insert into t select n, repeat('x', 100) from generate_series(10, 1000) n")
        .await;
    let lagging = status.wait_for(|status| status.lag_bytes() > 50_000);
    tokio::time::timeout(DEADLINE, lagging)
        .await
        .unwrap()
        .unwrap();
    other.batch_execute("rollback").await.unwrap();
    world.caught_up().await;
    let drained = status.wait_for(|status| status.lag_bytes() < 1000);
    tokio::time::timeout(DEADLINE, drained)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(handle.status().sessions, 1);
    handle.request_stop();
    let stopped = status.wait_for(|status| status.phase == Phase::Stopped { reason: None });
    tokio::time::timeout(DEADLINE, stopped)
        .await
        .unwrap()
        .unwrap();
    handle.join().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_makes_what_was_delivered_durable_and_confirms_it() {
    let world = World::same(BASE).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t select n, 'x' from generate_series(1, 2000) n")
        .await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let (_, acked) = positions(&world).await.unwrap();
    let query = "select (confirmed_flush_lsn - '0/0')::bigint from pg_replication_slots where slot_name = $1";
    let confirmed: i64 = world
        .source
        .query_one(query, &[&world.slot])
        .await
        .unwrap()
        .get(0);
    assert_eq!(
        Some(confirmed),
        acked,
        "the slot knows what is durable, and not more"
    );
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_writes_nothing_when_nothing_happened() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let rows = "select string_agg(ctid::text || xmin::text || id, ',') from t";
    let (before, versions) = (
        checkpoint_text(&world).await,
        world.destination_text(rows).await,
    );
    let mut handle = world.start(spec).await;
    handle.ready().await.unwrap();
    handle.stop().await.unwrap();
    assert_eq!(checkpoint_text(&world).await, before);
    assert_eq!(world.destination_text(rows).await, versions);
    let handle = world.start(spec).await;
    world.run("update t set v = 'b'").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn preflight_reports_and_leaves_no_trace() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let untouched =
        "select (select count(*) from pg_class) || '/' || (select count(*) from pg_namespace)";
    let before = world.destination_text(untouched).await;
    let report = doctor::preflight(&good).await;
    assert_eq!(
        (report.status, report.exit_code),
        (Verdict::Pass, 0),
        "{report:?}"
    );
    let json: serde_json::Value = serde_json::to_value(&report).unwrap();
    assert_eq!(json["mode"], "preflight");
    assert_eq!(json["status"], "pass");
    assert_eq!(json["exit_code"], 0);
    for check in json["checks"].as_array().unwrap() {
        let keys: Vec<_> = check
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, ["detail", "domain", "name", "reason", "status"]);
    }

    // Without the identity it tells which line to write.
    let unnamed = Pipeline::of_spec(spec)
        .source(world.cluster.conninfo(&world.source_database))
        .destination(world.cluster.conninfo(&world.destination_database))
        .publication("everything")
        .go_forward();
    let report = doctor::preflight(&unnamed).await;
    let identity = world
        .cluster
        .source_identity(&world.source_database)
        .await
        .unwrap();
    let line = format!("source_identity = \"{identity}\"");
    assert_eq!(report.exit_code, 1, "{report:?}");
    assert!(
        report.checks.iter().any(|check| check
            .detail
            .as_ref()
            .is_some_and(|detail| detail.contains(&line))),
        "{report:?}"
    );
    let pasted = unnamed
        .configured_by_toml(&format!("[{}]\n{line}\n", world.slot))
        .unwrap();
    assert_eq!(
        doctor::preflight(&pasted).await.exit_code,
        0,
        "the line can be pasted"
    );

    assert_eq!(world.destination_text(untouched).await, before);
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
    let sessions = wait_for("our sessions to end", DEADLINE, async || {
        let query = "select count(*) from pg_stat_activity where application_name like 'replicant%' and datname = any($1)";
        let databases = [&world.source_database, &world.destination_database];
        let row = world
            .source
            .query_one(query, &[&databases.map(String::as_str).as_slice()])
            .await
            .unwrap();
        (row.get::<_, i64>(0) == 0).then_some(())
    });
    sessions.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_answer_with_the_exit_code_of_what_they_found() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let unreachable = good.clone().source("host=127.0.0.1 port=1 user=x dbname=x");
    let ask = async |pipeline: Option<&Pipeline>, line: &str| {
        let arguments: Vec<std::ffi::OsString> = line.split(' ').map(Into::into).collect();
        let pipelines: Vec<Pipeline> = pipeline.into_iter().cloned().collect();
        tokio::task::spawn_blocking(move || replicant_cli::run(arguments, pipelines))
            .await
            .unwrap()
    };
    for (pipeline, line, exit) in [
        (Some(&good), "r preflight", Exit::Clean),
        (Some(&good), "r preflight --format json", Exit::Clean),
        (Some(&unreachable), "r preflight", Exit::NotAsked),
        (Some(&good), "r preflight --pipeline absent", Exit::NotAsked),
        (Some(&good), "r preflight --format xml", Exit::NotAsked),
        (Some(&good), "r nonsense", Exit::NotAsked),
        (None, "r preflight", Exit::NotAsked),
        (None, "r --help", Exit::Clean),
        (None, "r explain no_such_code", Exit::NotAsked),
    ] {
        assert_eq!(ask(pipeline, line).await, exit, "{line}");
    }
    world
        .destination
        .batch_execute("drop table t")
        .await
        .unwrap();
    assert_eq!(ask(Some(&good), "r preflight").await, Exit::Failed);
    for entry in replicant_cli::catalogue::all() {
        for format in ["text", "json"] {
            let line = format!("r explain {} --format {format}", entry.code);
            assert_eq!(ask(None, &line).await, Exit::Clean, "{line}");
        }
        assert!(
            !entry.help.is_empty() && !entry.help.contains('\n'),
            "{}",
            entry.code
        );
    }
}
