//! Does a mirror go on, exactly once, when a server, a connection or an answer is lost?

use std::sync::Arc;

use replicant_test_servers::{
    Cluster, ClusterBuilder, Direction, Flow, Installation, Proxy, Shutdown, wait_for_true,
};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::ledger::Ledger;
use replicant_tests::world::{DEADLINE, shared_cluster};
use tokio_postgres::Client;

const T: &str = "create table t (id int primary key, v text)";

fn own_cluster(settings: &[(&str, &str)]) -> Cluster {
    let mut builder = ClusterBuilder::new(&Installation::selected().unwrap());
    for (name, value) in settings {
        builder = builder.setting(name, value);
    }
    builder.start().unwrap()
}

async fn proxied(conninfo: &str, port: u16) -> (Proxy, String) {
    let proxy = Proxy::to_port(port).await.unwrap();
    let through = conninfo.replace(&format!("port={port} "), &format!("port={} ", proxy.port()));
    assert_ne!(through, conninfo);
    (proxy, through)
}

/// A session that makes deliveries wait by holding a lock, until it is told to let go.
async fn blocker(conninfo: &str, statement: &str) -> Client {
    let client = replicant_test_servers::connect::connect(conninfo)
        .await
        .unwrap();
    client
        .batch_execute(&format!("begin; {statement}"))
        .await
        .unwrap();
    client
}

/// Waits until a delivery of this slot waits for something of this kind.
async fn delivery_waits(world: &World, observer: &Client, kind: &str) {
    let query = format!(
        "select exists (select from pg_stat_activity where datname = '{}' and wait_event_type || wait_event like '{kind}%' \
         and application_name = 'replicant {}')",
        world.destination_database, world.slot
    );
    wait_for_true(observer, &query, DEADLINE).await.unwrap();
}

async fn confirmed_flush(world: &World) -> i64 {
    let query = "select (confirmed_flush_lsn - '0/0')::bigint from pg_replication_slots where slot_name = $1";
    let row = world.source.query_one(query, &[&world.slot]).await;
    row.unwrap().get(0)
}

async fn walsender(world: &World) -> Option<i32> {
    let query = "select active_pid from pg_replication_slots where slot_name = $1";
    let row = world.source.query_one(query, &[&world.slot]).await;
    row.unwrap().get(0)
}

/// How often each row of `t` was inserted by a committed transaction.
async fn inserted(ledger: &mut Ledger, client: &Client) -> Vec<String> {
    let recorded = ledger.read(client).await;
    let changes = recorded.iter().flat_map(|transaction| transaction.of("t"));
    let mut ids: Vec<String> = changes
        .filter(|change| change.old.is_none())
        .filter_map(|change| change.new.as_ref()?.first()?.clone())
        .collect();
    ids.sort();
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_that_crashes_in_a_delivery_and_while_idle_is_found_again() {
    let mut destination = own_cluster(&[]);
    let mut world = World::between(shared_cluster(), &destination, T, T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let held = blocker(&world.destination_conninfo, "select from t for update").await;
    world.run("update t set v = 'b'").await;
    delivery_waits(&world, &world.destination, "Lock").await;
    destination.stop(Shutdown::Immediate).unwrap();
    drop(held);
    destination.start().unwrap();
    world.reconnect().await;
    assert_equal(&world, &["t"]).await;

    destination.stop(Shutdown::Immediate).unwrap();
    destination.start().unwrap();
    world.reconnect().await;
    world.run("insert into t values (2, 'c')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_and_that_happened_is_not_repeated() {
    let destination = own_cluster(&[]);
    let mut world = World::between(
        shared_cluster(),
        &destination,
        "create table t (id int); alter table t replica identity full",
        "create table t (id int); alter table t replica identity full",
    )
    .await;
    let mut ledger = Ledger::of_everything(&world.destination).await;
    let (proxy, through) = proxied(&world.destination_conninfo, destination.port()).await;
    world.destination_conninfo = through;
    let handle = world.mirror(&["t"]).await;
    // From now on no commit is answered, although each happens.
    set_standby(&world, "nobody").await;
    world.run("insert into t values (1)").await;
    delivery_waits(&world, &world.destination, "IPCSyncRep").await;
    let before = proxy.accepted();
    proxy.cut();
    replicant_test_servers::wait_for("a new connection", DEADLINE, async || {
        (proxy.accepted() > before).then_some(())
    })
    .await
    .unwrap();
    delivery_waits(&world, &world.destination, "Lock").await;
    set_standby(&world, "").await;
    assert_equal(&world, &["t"]).await;
    assert_eq!(inserted(&mut ledger, &world.destination).await, ["1"]);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_and_that_did_not_happen_is_done_again() {
    let cluster = shared_cluster();
    let mut world = World::new(
        "create table parent (id int primary key); create table t (id int primary key, parent int references parent)",
        "create table parent (id int primary key); \
         create table t (id int primary key, parent int references parent deferrable)",
    )
    .await;
    let mut ledger = Ledger::of_everything(&world.destination).await;
    let direct = world.destination_conninfo.clone();
    let (proxy, through) = proxied(&direct, cluster.port()).await;
    world.destination_conninfo = through;
    let handle = world.mirror(&["parent", "t"]).await;
    world.run("insert into parent values (1)").await;
    world.caught_up().await;
    // The reference is checked at commit, which therefore waits for this session.
    let held = blocker(&direct, "select from parent for update").await;
    world.run("insert into t values (1, 1)").await;
    delivery_waits(&world, &world.destination, "Lock").await;
    let before = proxy.accepted();
    proxy.cut();
    replicant_test_servers::wait_for("a new connection", DEADLINE, async || {
        (proxy.accepted() > before).then_some(())
    })
    .await
    .unwrap();
    world
        .destination
        .batch_execute(&format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() \
             and application_name = 'replicant {}' and lower(query) = 'commit'",
            world.slot
        ))
        .await
        .unwrap();
    held.batch_execute("rollback").await.unwrap();
    assert_equal(&world, &["parent", "t"]).await;
    assert_eq!(inserted(&mut ledger, &world.destination).await, ["1"]);
    handle.stop().await.unwrap();
}

async fn set_standby(world: &World, names: &str) {
    world
        .destination
        .batch_execute(&format!(
            "alter system set synchronous_standby_names = '{names}'"
        ))
        .await
        .unwrap();
    world
        .destination
        .batch_execute("select pg_reload_conf()")
        .await
        .unwrap();
    let query = format!("select current_setting('synchronous_standby_names') = '{names}'");
    wait_for_true(&world.destination, &query, DEADLINE)
        .await
        .unwrap();
    if !names.is_empty() {
        commits_wait(world).await;
    }
}

/// Waits until commits wait for a standby: what this session reads is not yet what the server does.
async fn commits_wait(world: &World) {
    let probe = replicant_test_servers::connect::connect(&world.destination_conninfo)
        .await
        .unwrap();
    let query = "select pg_backend_pid()";
    let pid: i32 = probe.query_one(query, &[]).await.unwrap().get(0);
    let trying = tokio::spawn(async move {
        let commit = "select pg_logical_emit_message(true, 'probe', '')";
        while probe.batch_execute(commit).await.is_ok() {}
    });
    let waits = format!(
        "select exists (select from pg_stat_activity where pid = {pid} and wait_event = 'SyncRep')"
    );
    wait_for_true(&world.destination, &waits, DEADLINE)
        .await
        .unwrap();
    let end = format!("select pg_terminate_backend({pid})");
    world.destination.batch_execute(&end).await.unwrap();
    trying.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_no_standby_confirmed_is_not_acknowledged() {
    let destination = own_cluster(&[]);
    let world = World::between(shared_cluster(), &destination, T, T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    set_standby(&world, "nobody").await;
    world.run("insert into t values (2, 'b')").await;
    let end = world.source_position().await;
    delivery_waits(&world, &world.destination, "IPCSyncRep").await;
    // The server calls a cancelled wait a successful commit, with a warning. The sign of life may have waited first.
    replicant_test_servers::wait_for("the cancelled commit", DEADLINE, async || {
        let cancel =
            "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'";
        world.destination.batch_execute(cancel).await.ok()?;
        let query = "select from t where id = 2";
        world
            .destination
            .query_opt(query, &[])
            .await
            .ok()?
            .map(drop)
    })
    .await
    .unwrap();
    delivery_waits(&world, &world.destination, "IPCSyncRep").await;
    assert!(
        confirmed_flush(&world).await < end,
        "acknowledged unconfirmed"
    );
    set_standby(&world, "").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_stops_at_once_while_a_mirror_is_idle_and_is_found_again() {
    let destination = shared_cluster();
    let mut world = World::between(Arc::new(own_cluster(&[])), &destination, T, T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let began = std::time::Instant::now();
    let cluster = Arc::get_mut(&mut world.cluster).unwrap();
    cluster.stop(Shutdown::Fast).unwrap();
    assert!(began.elapsed().as_secs() < 10, "the source waited");
    cluster.start().unwrap();
    world.reconnect().await;
    world.run("insert into t values (2, 'b')").await;
    assert_equal(&world, &["t"]).await;

    Arc::get_mut(&mut world.cluster).unwrap().kill().unwrap();
    Arc::get_mut(&mut world.cluster).unwrap().start().unwrap();
    world.reconnect().await;
    world.run("insert into t values (3, 'c')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_to_the_source_that_breaks_anywhere_repeats_nothing() {
    let mut world =
        World::same("create table t (id int); alter table t replica identity full").await;
    let mut ledger = Ledger::of_everything(&world.destination).await;
    let (proxy, through) = proxied(&world.source_conninfo, world.cluster.port()).await;
    world.source_conninfo = through;
    let handle = world.mirror(&["t"]).await;
    let mut expected = Vec::new();
    for (round, direction) in [
        Direction::ToClient,
        Direction::ToServer,
        Direction::ToClient,
    ]
    .into_iter()
    .enumerate()
    {
        let bytes = 700 * u64::try_from(round).unwrap();
        proxy.set(direction, Flow::CutAfter { bytes });
        for n in 0..20 {
            let id = round * 100 + n;
            world.run(&format!("insert into t values ({id})")).await;
            expected.push(id.to_string());
        }
        if direction == Direction::ToServer {
            proxy.cut();
        }
        proxy.set(direction, Flow::Pass);
        world.caught_up().await;
        let pid = walsender(&world).await.unwrap();
        world.run("insert into t values (-1)").await;
        expected.push("-1".to_owned());
        world
            .run(&format!("select pg_terminate_backend({pid})"))
            .await;
    }
    assert_equal(&world, &["t"]).await;
    expected.sort();
    assert_eq!(inserted(&mut ledger, &world.destination).await, expected);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_destination_does_not_cost_the_session_with_the_source() {
    let source = own_cluster(&[("wal_sender_timeout", "1s")]);
    let destination = shared_cluster();
    let world = World::between(Arc::new(source), &destination, T, T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let before = walsender(&world).await;
    let held = blocker(&world.destination_conninfo, "select from t for update").await;
    world.run("update t set v = 'b'").await;
    delivery_waits(&world, &world.destination, "Lock").await;
    let now: String = world
        .source
        .query_one("select clock_timestamp()::text", &[])
        .await
        .unwrap()
        .get(0);
    let later = format!("select clock_timestamp() > '{now}'::timestamptz + interval '3 seconds'");
    wait_for_true(&world.source, &later, DEADLINE)
        .await
        .unwrap();
    held.batch_execute("rollback").await.unwrap();
    assert_equal(&world, &["t"]).await;
    assert_eq!(walsender(&world).await, before);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn traffic_that_is_not_published_lets_the_source_forget_its_wal() {
    let world = World::same(T).await;
    let handle = world.mirror(&["t"]).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let before = confirmed_flush(&world).await;
    world
        .run("select pg_logical_emit_message(false, 'p', repeat('x', 4000000)) from generate_series(1, 5)")
        .await;
    replicant_test_servers::wait_for("an idle advance", DEADLINE, async || {
        let confirmed = confirmed_flush(&world).await;
        let stored = world.acked_end().await.unwrap();
        assert!(confirmed <= stored, "acknowledged what was not recorded");
        (confirmed > before + 16_000_000).then_some(())
    })
    .await
    .unwrap();
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_transaction_that_breaks_between_its_parts_is_applied_once() {
    let ddl = "create table t (id int primary key); create table u (id int primary key, v int)";
    let world = World::same(ddl).await;
    let mut ledger = Ledger::of_everything(&world.destination).await;
    let handle = world.mirror(&["t", "u"]).await;
    world.run("insert into u values (1, 0)").await;
    world.caught_up().await;
    let held = blocker(&world.destination_conninfo, "select from u for update").await;
    // More rows than a group holds: the first part is applied before the update is even received.
    world
        .run("begin; insert into t select n from generate_series(1, 21000) n; update u set v = 1; commit")
        .await;
    delivery_waits(&world, &world.destination, "Lock").await;
    world
        .destination
        .batch_execute(&format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() \
             and application_name = 'replicant {}' and wait_event_type = 'Lock'",
            world.slot
        ))
        .await
        .unwrap();
    held.batch_execute("rollback").await.unwrap();
    assert_equal(&world, &["t", "u"]).await;
    let inserted = inserted(&mut ledger, &world.destination).await;
    assert_eq!(inserted.len(), 21_000, "rows were committed twice");
    handle.stop().await.unwrap();
}
