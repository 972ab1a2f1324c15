//! Who may write when several processes want to run one pipeline? Never two; and the next one soon, whatever happened
//! to the first.
//!
//! Every process is a real one, and what was committed is judged by the record that both servers keep.

use std::sync::Arc;
use std::time::{Duration, Instant};

use replicant_sink::doctor::{self, State};
use replicant_sink::options::Takeover;
use replicant_test_servers::connect::connect;
use replicant_test_servers::{
    ClusterBuilder, Direction, Door, Flow, Installation, Proxy, wait_for, wait_for_true,
};
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::refusal::retrying;
use replicant_tests::run::{DDL, Run, TABLES, slot_is_free, streaming};
use replicant_tests::world::DEADLINE;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mirror-process");

/// A lease of ten seconds, and some.
const TAKEOVER: Duration = Duration::from_secs(15);

/// On a source that gives a silent consumer up after three seconds, so that a slot does not stay busy for a minute.
async fn on_an_impatient_source() -> Run {
    let cluster = ClusterBuilder::new(&Installation::selected().unwrap())
        .setting("wal_sender_timeout", "3s")
        .start();
    let world = World::on(Arc::new(cluster.unwrap()), DDL, DDL).await;
    Run::start_in(PROGRAM, world).await
}

/// Who owns the slot, by the stored lease.
async fn owner(world: &World) -> String {
    let query = format!(
        "select owner from replicant.replicant_leases where slot = '{}'",
        world.slot
    );
    world.destination_text(&query).await
}

/// Waits until somebody else owns the slot.
async fn owned_by_another(world: &World, former: &str) -> String {
    wait_for("another owner", DEADLINE, async || {
        Some(owner(world).await).filter(|now| now != former)
    })
    .await
    .unwrap()
}

/// A process that stands by, seen to have connected.
async fn standing_by(run: &Run) -> MirrorProcess {
    let sessions = format!(
        "select count(*) from pg_stat_activity where application_name = 'replicant {}' and datname = '{}'",
        run.world.slot, run.world.destination_database
    );
    let before = run.world.destination.query_one(&sessions, &[]).await;
    let before: i64 = before.unwrap().get(0);
    let process = run.spawn(Launch::standing_by()).await;
    let more = format!("select ({sessions}) > {before}");
    wait_for_true(&run.world.destination, &more, DEADLINE)
        .await
        .unwrap();
    process
}

/// One process that streams, and what its owner is called.
async fn first(run: &mut Run) -> (MirrorProcess, String) {
    let process = run.spawn(Launch::default()).await;
    streaming(&run.world).await;
    run.round().await;
    run.world.caught_up().await;
    let named = owner(&run.world).await;
    (process, named)
}

/// The second process writes everything there is to write, exactly once.
async fn taken_over(run: &mut Run, former: &str) {
    owned_by_another(&run.world, former).await;
    run.round().await;
    run.large().await;
    run.round().await;
    run.judge().await;
}

/// What processes that are spawned from now on connect to through a proxy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Destination,
    BothServers,
}

/// Both servers are one. The world's own connections stay as they are; the text leads around the proxy again.
async fn through_a_proxy(run: &mut Run, between: Between) -> (Proxy, [String; 2]) {
    let world = &mut run.world;
    let direct = [
        world.source_conninfo.clone(),
        world.destination_conninfo.clone(),
    ];
    let port = world.cluster.port();
    let proxy = Proxy::to_port(port).await.unwrap();
    let through = |conninfo: &str| {
        let there = format!("port={} ", proxy.port());
        let through = conninfo.replace(&format!("port={port} "), &there);
        assert_ne!(through, conninfo);
        through
    };
    if between == Between::BothServers {
        world.source_conninfo = through(&direct[0]);
    }
    world.destination_conninfo = through(&direct[1]);
    (proxy, direct)
}

fn around_the_proxy(run: &mut Run, [source, destination]: [String; 2]) {
    run.world.source_conninfo = source;
    run.world.destination_conninfo = destination;
}

/// Nothing passes any more, and nobody is told.
fn silence(proxy: &Proxy) {
    proxy.set(Direction::ToServer, Flow::Stall);
    proxy.set(Direction::ToClient, Flow::Stall);
}

fn speech(proxy: &Proxy) {
    proxy.set(Direction::ToServer, Flow::Pass);
    proxy.set(Direction::ToClient, Flow::Pass);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_is_refused_and_told_who_runs_the_pipeline() {
    let mut run = Run::start(PROGRAM).await;
    let (first, named) = first(&mut run).await;
    let mut second = run.spawn(Launch::default()).await;
    run.round().await;
    let reason = second.reason().await;
    assert!(reason.starts_with("slot_owned_elsewhere"), "{reason}");
    assert!(
        reason.contains(&format!("the owner is {named}, since 20")),
        "{reason}"
    );
    run.round().await;
    run.judge().await;
    assert_eq!(owner(&run.world).await, named);
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_stopped_gives_the_slot_to_the_next_at_once() {
    let mut run = Run::start(PROGRAM).await;
    let (first, named) = first(&mut run).await;
    let second = standing_by(&run).await;
    run.round().await;
    let asked = Instant::now();
    first.stop().await;
    owned_by_another(&run.world, &named).await;
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "{:?}",
        asked.elapsed()
    );
    taken_over(&mut run, &named).await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_is_replaced_at_once() {
    let mut run = Run::start(PROGRAM).await;
    let (mut first, mut named) = first(&mut run).await;
    for _ in 0..3 {
        let second = standing_by(&run).await;
        run.round().await;
        run.large().await;
        let asked = Instant::now();
        first.kill().await;
        let next = owned_by_another(&run.world, &named).await;
        assert!(
            asked.elapsed() < Duration::from_secs(5),
            "{:?}",
            asked.elapsed()
        );
        taken_over(&mut run, &named).await;
        (first, named) = (second, next);
    }
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_paused_is_replaced_and_writes_nothing_when_it_wakes_up() {
    let mut run = on_an_impatient_source().await;
    let (mut first, named) = first(&mut run).await;
    let second = standing_by(&run).await;
    run.round().await;
    run.world.caught_up().await;
    first.pause();
    let paused = Instant::now();
    run.round().await;
    owned_by_another(&run.world, &named).await;
    assert!(
        paused.elapsed() > Duration::from_secs(5),
        "a paused owner has the time of its lease"
    );
    assert!(paused.elapsed() < TAKEOVER, "{:?}", paused.elapsed());
    first.resume();
    taken_over(&mut run, &named).await;
    let reason = first.reason().await;
    assert!(reason.starts_with("lease_lost"), "{reason}");
    run.round().await;
    run.judge().await;
    second.stop().await;
}

/// The first process is taken away in the middle of a delivery, whose transaction its server keeps open, and comes back.
async fn left_open(
    run: &mut Run,
    mut first: MirrorProcess,
    named: &str,
    (taken_away, back): (impl Fn(&MirrorProcess), impl Fn(&MirrorProcess)),
) {
    // Its delivery waits for a row, and has locked the watermark.
    let held = connect(&run.world.destination_conninfo).await.unwrap();
    let lock = "begin; lock table account in access exclusive mode";
    held.batch_execute(lock).await.unwrap();
    run.round().await;
    let of_mirrors = format!(
        "from pg_stat_activity where application_name = 'replicant {}' and datname = '{}' and",
        run.world.slot, run.world.destination_database
    );
    let blocked = format!("select exists (select {of_mirrors} wait_event_type = 'Lock')");
    let open = format!("{of_mirrors} state = 'idle in transaction'");
    let observer = &run.world.destination;
    wait_for_true(observer, &blocked, DEADLINE).await.unwrap();
    taken_away(&first);
    held.batch_execute("rollback").await.unwrap();
    let left_open = format!("select exists (select {open})");
    wait_for_true(observer, &left_open, DEADLINE).await.unwrap();
    let second = standing_by(run).await;
    // The lease runs out, and the next owner waits for that transaction.
    wait_for_true(observer, &blocked, DEADLINE).await.unwrap();
    assert_eq!(owner(&run.world).await, named);
    // What `idle_in_transaction_session_timeout` does after a minute.
    let end = format!("select pg_terminate_backend(pid) {open}");
    observer.batch_execute(&end).await.unwrap();
    taken_over(run, named).await;
    back(&first);
    let reason = first.reason().await;
    assert!(reason.starts_with("lease_lost"), "{reason}");
    run.round().await;
    run.judge().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_process_that_left_a_transaction_open_is_waited_for() {
    let mut run = on_an_impatient_source().await;
    let (process, named) = first(&mut run).await;
    let steps = (MirrorProcess::pause, MirrorProcess::resume);
    left_open(&mut run, process, &named, steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_network_is_cut_in_a_delivery_is_waited_for() {
    let mut run = on_an_impatient_source().await;
    let (proxy, direct) = through_a_proxy(&mut run, Between::BothServers).await;
    let (process, named) = first(&mut run).await;
    around_the_proxy(&mut run, direct);
    let steps = (
        |_: &MirrorProcess| silence(&proxy),
        |_: &MirrorProcess| speech(&proxy),
    );
    left_open(&mut run, process, &named, steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_paused_for_less_than_its_lease_goes_on() {
    let mut run = on_an_impatient_source().await;
    let (first, named) = first(&mut run).await;
    let second = standing_by(&run).await;
    first.pause();
    run.round().await;
    // Long enough that the source gives up on it: the lease lasts longer.
    let gone = format!(
        "select active_pid is null from pg_replication_slots where slot_name = '{}'",
        run.world.slot
    );
    wait_for_true(&run.world.source, &gone, DEADLINE)
        .await
        .unwrap();
    first.resume();
    run.round().await;
    run.judge().await;
    assert_eq!(owner(&run.world).await, named);
    first.stop().await;
    taken_over(&mut run, &named).await;
    second.stop().await;
}

/// The first process loses the destination, and the source too or keeps it; then it must let the slot go.
async fn cut_off(between: Between, how: impl Fn(&Proxy), heal: impl Fn(&Proxy)) {
    let mut run = on_an_impatient_source().await;
    let (proxy, direct) = through_a_proxy(&mut run, between).await;
    let (mut first, named) = first(&mut run).await;
    around_the_proxy(&mut run, direct);
    let second = standing_by(&run).await;
    how(&proxy);
    let lost = Instant::now();
    run.round().await;
    owned_by_another(&run.world, &named).await;
    assert!(lost.elapsed() < TAKEOVER, "{:?}", lost.elapsed());
    taken_over(&mut run, &named).await;
    heal(&proxy);
    let reason = first.reason().await;
    assert!(reason.starts_with("lease_lost"), "{reason}");
    run.round().await;
    run.judge().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_connections_break_is_replaced_and_lets_the_slot_go() {
    cut_off(
        Between::Destination,
        |proxy| {
            proxy.door(Door::Closed);
            proxy.cut();
        },
        |proxy| proxy.door(Door::Open),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_hears_nothing_any_more_is_replaced_and_lets_the_slot_go() {
    cut_off(Between::Destination, silence, speech).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_network_is_cut_is_replaced_and_writes_nothing_when_it_is_back() {
    cut_off(Between::BothServers, silence, speech).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_cannot_renew_its_lease_lets_the_slot_go_and_goes_on_when_nobody_took_over() {
    let mut run = on_an_impatient_source().await;
    let (proxy, direct) = through_a_proxy(&mut run, Between::Destination).await;
    let world = &run.world;
    let spec = world.specification(TABLES).await.build();
    let mut handle = world.pipeline(spec).await.start().await.unwrap();
    handle.ready().await.unwrap();
    silence(&proxy);
    retrying(&handle, "lease_not_renewed").await;
    slot_is_free(world).await;
    speech(&proxy);
    around_the_proxy(&mut run, direct);
    run.round().await;
    run.judge().await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_stands_by_can_be_stopped_and_is_seen_to_wait() {
    let mut run = Run::start(PROGRAM).await;
    let (first, named) = first(&mut run).await;
    let world = &run.world;
    let spec = world.specification(TABLES).await.build();
    let pipeline = world.pipeline(spec).await.takeover(Takeover::Wait);
    let handle = pipeline.start().await.unwrap();
    let mut changes = handle.status_changes();
    let waits = changes.wait_for(|status| status.phase.reason() == Some("slot_owned_elsewhere"));
    waits.await.unwrap();
    // Who asks from outside is told about the one that runs.
    let status = wait_for("a heartbeat", DEADLINE, async || {
        let status = doctor::status(&pipeline).await.unwrap();
        (status.state == State::Streaming).then_some(status)
    });
    let status = status.await.unwrap();
    assert_eq!(status.exit_code, 0);
    let lease = status.lease.unwrap();
    assert_eq!(lease.owner.as_deref(), Some(named.as_str()));
    assert_eq!((lease.state, lease.lock), ("live", "held"));
    assert!(lease.since.is_some());
    handle.stop().await.unwrap();
    first.stop().await;
    let status = doctor::status(&pipeline).await.unwrap();
    assert_eq!(status.state, State::NotStarted);
    let lease = status.lease.unwrap();
    assert_eq!((lease.state, lease.lock), ("released", "free"));
}
