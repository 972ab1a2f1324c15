//! Is everything that is emitted on the closed lists, and is everything on the lists emitted?

use std::collections::BTreeSet;

use replicant_sink::telemetry::{EVENTS, METRICS};
use replicant_test_servers::Proxy;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::listen::Heard;
use replicant_tests::refusal::{drop_slot, halted};
use replicant_transport::telemetry as transport;

const TRANSPORT_METRICS: &[&str] = &[
    transport::SESSIONS,
    transport::RECONNECTS,
    transport::RECEIVED_BYTES,
    transport::TRANSACTIONS,
    transport::CHANGES,
    transport::IDLE_ADVANCES,
    transport::LAG_BYTES,
    transport::QUEUE_BYTES,
];

/// Events of the transport, by their text.
const TRANSPORT_EVENTS: &[&str] = &[
    "connected",
    "creating the slot",
    "slot created",
    "streaming",
    "session lost, trying again",
    "halted",
    "stopped",
];

/// Listed, and why this file does not see it.
const SEEN_ELSEWHERE: &[(&str, &str)] = &[
    (
        "replicant_transactions_skipped_total",
        "needs a redelivery of what took effect: the crash tests kill the process between commit and report",
    ),
    (
        "replicant_lost_commit_answers_total",
        "needs a connection that breaks inside COMMIT: the checkpoint's own tests of lost commits do that",
    ),
    ("commit.lost", "as the metric of lost answers"),
    (
        "replicant_repeated_events_total",
        "needs an append log whose events are there already: the tests of resets deliver a log again",
    ),
    ("events.repeated", "as its metric"),
    (
        "replicant_heartbeat_failures_total",
        "needs a heartbeat whose own connection breaks while delivery's does not",
    ),
    ("heartbeat.failed", "as its metric"),
    (
        "replicant_source_idle_advances_total",
        "needs a keepalive on a quiet source: the transport's acknowledgement tests wait for one",
    ),
];

/// What a full life emits: start, rows, deletes of absent rows, a conflict, contention, a broken stream, a halt, a stop.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_life_emits_what_is_listed_and_nothing_else() {
    let heard = Heard::everything();
    let world = World::same("create table t (id int primary key, v text unique)").await;
    world
        .destination
        .batch_execute(
            "create sequence tries;
             create function taste(v text) returns boolean language plpgsql as $$ begin
               if v = 'contended' and nextval('public.tries') <= 1 then raise exception 'no' using errcode = '40001'; end if;
               if v = 'refused' then raise exception 'no' using errcode = '22001'; end if;
               return true; end $$;
             alter table t add check (public.taste(v))",
        )
        .await
        .unwrap();
    let spec = world.specification(&["t"]).await;
    let spec = spec
        .with("t", |resource| resource.skips = &["gone"])
        .build();
    let proxy = Proxy::to_port(world.cluster.port()).await.unwrap();
    let through = format!(
        "host=127.0.0.1 port={} user=postgres dbname={} sslmode=disable",
        proxy.port(),
        world.source_database
    );
    let pipeline = world.pipeline(spec).await.source(through);
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run("insert into t values (1, 'a'), (2, 'b'), (3, 'contended')")
        .await;
    assert_equal(&world, &["t"]).await;
    // Values that swap owners need another order of writing.
    world.run("begin; update t set v = 'x' where id = 1; update t set v = 'a' where id = 2; update t set v = 'b' where id = 1; commit").await;
    assert_equal(&world, &["t"]).await;
    world
        .destination
        .batch_execute("delete from t where id = 1")
        .await
        .unwrap();
    world.run("delete from t where id = 1").await;
    assert_equal(&world, &["t"]).await;
    proxy.cut();
    world.run("insert into t values (4, 'd')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (5, 'refused')").await;
    halted(handle).await;
    drop_slot(&world).await;

    let text = heard.text();
    let emitted: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("metric ")?.split(' ').nth(1))
        .filter(|name| name.starts_with("replicant_"))
        .collect();
    let listed: BTreeSet<&str> = METRICS
        .iter()
        .map(|metric| metric.name)
        .chain(TRANSPORT_METRICS.iter().copied())
        .collect();
    assert_eq!(
        emitted.difference(&listed).collect::<Vec<_>>(),
        [&""; 0],
        "not on a list"
    );
    let elsewhere = |name: &str| SEEN_ELSEWHERE.iter().any(|(other, _)| *other == name);
    for name in &listed {
        assert!(
            emitted.contains(name) || elsewhere(name),
            "{name} was not emitted"
        );
        let unit = ["_total", "_seconds", "_bytes"]
            .iter()
            .any(|unit| name.ends_with(unit));
        assert!(unit, "{name} does not end with its unit");
    }

    let events: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" replicant: ") || line.contains(" replicant_transport"))
        .filter(|line| !line.starts_with("metric") && !line.starts_with("log "))
        .collect();
    let known: Vec<&str> = EVENTS
        .iter()
        .map(|(name, _)| *name)
        .chain(TRANSPORT_EVENTS.iter().copied())
        .collect();
    for event in &events {
        let named = known
            .iter()
            .any(|name| event.contains(&format!(": {name} ")));
        assert!(named, "not on a list: {event}");
        assert!(
            event.contains(&format!("slot={}", world.slot)),
            "without its slot: {event}"
        );
    }
    for name in known {
        let seen = events
            .iter()
            .any(|event| event.contains(&format!(": {name} ")));
        assert!(seen || elsewhere(name), "{name} was not emitted");
    }
}
