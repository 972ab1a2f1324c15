//! Does an operator see from outside what a pipeline is doing, and why it stopped?

use replicant_sink::doctor::{self, State, Status, Verdict};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::{wait_for, wait_for_true};
use replicant_tests::World;
use replicant_tests::setups::verdict;
use replicant_tests::world::DEADLINE;

const TABLES: &str = "create table t (id int primary key, v text)";

async fn wait_for_status(pipeline: &Pipeline, wanted: State) -> Status {
    let what = format!("the state {wanted:?}");
    let status = wait_for(&what, DEADLINE, async || {
        let status = doctor::status(pipeline).await.ok()?;
        (status.state == wanted).then_some(status)
    });
    status.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_pipeline_is_seen_from_outside_until_it_stops() {
    let world = World::same(TABLES).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let before = doctor::status(&pipeline).await.unwrap();
    assert_eq!((before.state, before.exit_code), (State::NotStarted, 2));

    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let status = wait_for_status(&pipeline, State::Streaming).await;
    assert_eq!(status.exit_code, 0, "{status:#?}");
    let lease = status.lease.as_ref().unwrap();
    assert_eq!(lease.state, "live");
    assert!(lease.owner.as_ref().unwrap().contains('#'));
    assert_eq!(lease.lock, "held");
    let slot = status.slot_now.as_ref().unwrap();
    assert!(slot.active && slot.retained_bytes.is_some());
    assert!(status.lag_bytes.is_some());
    assert_eq!(
        status.source.as_deref(),
        Some(
            world
                .cluster
                .source_identity(&world.source_database)
                .await
                .unwrap()
                .as_str()
        )
    );
    let told = wait_for("a heartbeat that tells", DEADLINE, async || {
        let reported = doctor::status(&pipeline).await.ok()?.reported?;
        let reported: serde_json::Value = serde_json::from_str(&reported).ok()?;
        let told = reported["transactions"].as_u64() > Some(0) && reported["watermark"].is_string();
        told.then_some(())
    });
    told.await.unwrap();

    handle.stop().await.unwrap();
    let status = doctor::status(&pipeline).await.unwrap();
    assert_eq!((status.state, status.exit_code), (State::NotStarted, 2));
    assert_eq!(status.lease.unwrap().state, "released");
    assert_eq!(status.halted, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_outlives_its_ten_seconds_while_nothing_happens() {
    let world = World::same(TABLES).await;
    let spec = world.specification(&["t"]).await.build();
    let handle = world.start(spec).await;
    let bound: String = world
        .destination_text("select expires_at::text from replicant.replicant_leases")
        .await;
    let query = format!(
        "select clock_timestamp() > '{bound}'::timestamptz and expires_at > clock_timestamp() \
         from replicant.replicant_leases"
    );
    wait_for_true(&world.destination, &query, DEADLINE)
        .await
        .unwrap();
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halt_leaves_its_reason() {
    let world = World::same(TABLES).await;
    let spec = world.specification(&["t"]).await.with("t", |resource| {
        resource.on_truncate = replicant_sink::contract::resource::OnTruncate::Halt;
    });
    let spec = spec.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a'); truncate t").await;
    let error = tokio::time::timeout(DEADLINE, handle.join())
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(error.code(), "truncate_halt");
    let pipeline = world.pipeline(spec).await;
    let status = doctor::status(&pipeline).await.unwrap();
    assert_eq!((status.state, status.exit_code), (State::Halted, 1));
    let halted = status.halted.unwrap();
    assert_eq!(
        (halted.reason.as_str(), halted.class.as_str()),
        ("truncate_halt", "operator decision")
    );
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(
        verdict(&report, "last_halt"),
        (Verdict::Fail, "truncate_halt")
    );
    assert_eq!(report.exit_code, 1);
}
