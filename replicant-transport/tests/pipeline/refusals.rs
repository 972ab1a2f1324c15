//! Sources and slots that must not be streamed from: each has its own reason, and nothing is created or dropped.

use std::time::Duration;

use replicant_transport::pipeline::{Phase, Stopped};
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, Watermark};
use replicant_transport::reason::Reason;
use replicant_transport::source::SlotProvenance;

use crate::ledger::{Ledger, LedgerError, Manner};
use crate::proxy::{Flow, Proxy};
use crate::runner::{Running, book, observe, options, options_to, shop};
use crate::server::{Mode, Server};

async fn halts(options: replicant_transport::pipeline::SourceOptions, ledger: &Ledger) -> Reason {
    match Running::start(options, ledger).halted().await {
        Stopped::Source(error) => error.reason,
        Stopped::Sink(error) => panic!("{error}"),
    }
}

/// Runs until a slot exists and everything is acknowledged, then stops.
async fn established(server: &Server) -> Ledger {
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(server).await, &ledger);
    running.streaming().await;
    running.stop().await;
    ledger
}

fn slots(server: &Server) -> String {
    server.sql("select count(*) from pg_replication_slots")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_source_than_declared_is_refused() {
    let server = shop("");
    let mut options = options(&server).await;
    options.expected = "1/postgres".parse().unwrap();
    let ledger = Ledger::new(Manner::default());
    assert_eq!(
        halts(options, &ledger).await,
        Reason::SourceIdentityMismatch
    );
    assert!(ledger.book().sessions.is_empty());
    assert_eq!(slots(&server), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_publication_is_named_and_no_slot_is_created() {
    let server = shop("");
    let connect = server.options();
    let mut options = options(&server).await;
    options.publications = options_to(connect, &["p", "P"]).await.publications;
    let stopped = Running::start(options, &Ledger::new(Manner::default()))
        .halted()
        .await;
    assert!(
        stopped.to_string().contains("publication_missing")
            && stopped.to_string().contains("\"P\""),
        "{stopped}"
    );
    assert_eq!(slots(&server), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wal_level_without_logical_decoding_is_refused() {
    let server = shop("wal_level = replica");
    let mut options = options(&server).await;
    let id = server.sql("select system_identifier from pg_control_system()");
    options.expected = format!("{id}/postgres").parse().unwrap();
    assert_eq!(
        halts(options, &Ledger::new(Manner::default())).await,
        Reason::WalLevelNotLogical
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_without_the_privilege_is_refused() {
    let server = shop("");
    server.sql("create role plain login");
    let mut options = options(&server).await;
    options.connect = server.options_through(server.port, "plain");
    assert_eq!(
        halts(options, &Ledger::new(Manner::default())).await,
        Reason::PrivilegeMissing
    );
    server.sql("create role replicator login replication");
    let connect = server.options_through(server.port, "replicator");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options_to(connect, &["p"]).await, &ledger);
    running.streaming().await;
    let book = ledger.book();
    assert!(
        book.sessions[0]
            .tables
            .iter()
            .all(|table| !table.selectable)
    );
    let SlotProvenance::Created { empty_tables } = &book.origins[0].provenance else {
        panic!()
    };
    assert!(
        empty_tables.is_empty(),
        "what cannot be read is not claimed empty"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_of_another_kind_is_refused_and_left_alone() {
    let server = shop("");
    let options = options(&server).await;
    let ledger = Ledger::new(Manner::default());
    for (create, reason) in [
        (
            "select pg_create_physical_replication_slot('s')",
            Reason::SlotNotLogical,
        ),
        (
            "select pg_create_logical_replication_slot('s', 'test_decoding')",
            Reason::SlotPluginMismatch,
        ),
        (
            "select pg_create_logical_replication_slot('s', 'pgoutput', false, true)",
            Reason::SlotTwoPhase,
        ),
    ] {
        server.sql(create);
        assert_eq!(halts(options.clone(), &ledger).await, reason);
        assert_eq!(slots(&server), "1");
        server.sql("select pg_drop_replication_slot('s')");
    }
    server.sql("create database other");
    server
        .psql("other")
        .args([
            "-c",
            "select pg_create_logical_replication_slot('s', 'pgoutput')",
        ])
        .output()
        .unwrap();
    assert_eq!(halts(options, &ledger).await, Reason::SlotDatabaseMismatch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_went_away_is_never_created_again() {
    let server = shop("");
    let ledger = established(&server).await;
    server.sql("select pg_drop_replication_slot('s')");
    assert_eq!(
        halts(options(&server).await, &ledger).await,
        Reason::SlotMissing
    );
    assert_eq!(slots(&server), "0");
    // A slot of the same name that is too new is the sink's to refuse, by its own record.
    server.sql("insert into t values (1, 'never streamed'); select pg_create_logical_replication_slot('s', 'pgoutput')");
    let stopped = Running::start(options(&server).await, &ledger)
        .halted()
        .await;
    assert!(
        matches!(stopped, Stopped::Sink(LedgerError::DestinationBehindSlot)),
        "{stopped}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_is_not_created_for_a_checkpoint_that_has_only_a_watermark() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    ledger.claim_watermark(Watermark::at(CommitLsn::new(Lsn::new(1000))));
    for _ in 0..2 {
        assert_eq!(
            halts(options(&server).await, &ledger).await,
            Reason::SlotMissing
        );
        assert_eq!(slots(&server), "0");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invalidated_slot_halts() {
    let server = shop("max_slot_wal_keep_size = 1MB\nmin_wal_size = 32MB\nmax_wal_size = 32MB");
    let ledger = established(&server).await;
    for _ in 0..4 {
        server.sql("insert into unpublished select repeat(md5(i::text), 30) from generate_series(1, 20000) i; select pg_switch_wal(); checkpoint");
    }
    observe(
        || server.sql("checkpoint; select wal_status from pg_replication_slots"),
        |status| status == "lost",
    )
    .await;
    assert_eq!(
        halts(options(&server).await, &ledger).await,
        Reason::SlotInvalidated
    );
    assert_eq!(slots(&server), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publication_younger_than_its_slot_halts() {
    let server = shop("");
    server.sql("select pg_create_logical_replication_slot('s', 'pgoutput'); insert into t values (1, 'a'); create publication young for table t");
    let options = options_to(server.options(), &["young"]).await;
    assert_eq!(
        halts(options, &Ledger::new(Manner::default())).await,
        Reason::PublicationMissing
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_slot_is_waited_for_and_its_consumer_left_alone() {
    let server = shop("wal_sender_timeout = 1s");
    let first_ledger = established(&server).await;
    let mut first = Running::start(options(&server).await, &first_ledger);
    first.streaming().await;
    let second_ledger = Ledger::new(Manner::default());
    second_ledger.claim_acked_end(EndLsn::new(Lsn::new(u64::MAX >> 1)));
    let mut second = Running::start(options(&server).await, &second_ledger);
    second
        .phase(|phase| {
            matches!(
                phase,
                Phase::Retrying {
                    reason: "slot_active",
                    ..
                }
            )
        })
        .await;
    let started = std::time::Instant::now();
    let stopped = second.halted().await;
    assert!(
        matches!(&stopped, Stopped::Source(error) if error.reason == Reason::SlotActive),
        "{stopped}"
    );
    assert!(
        started.elapsed() > Duration::from_secs(1),
        "longer than a walsender outlives its client"
    );
    assert_eq!(first_ledger.book().sessions.len(), 2, "undisturbed");
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_behind_what_was_applied_halts() {
    let server = shop("");
    let ledger = established(&server).await;
    let far = Lsn::new(u64::from(u32::MAX) << 8);
    ledger.claim_acked_end(EndLsn::new(far));
    ledger.claim_watermark(Watermark::at(CommitLsn::new(far)));
    assert_eq!(
        halts(options(&server).await, &ledger).await,
        Reason::SourceBehindWatermark
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_the_slot_is_visible_and_can_be_stopped() {
    let server = shop("");
    let mut holding = server.psql("postgres");
    let mut holding = holding
        .args([
            "-c",
            "begin; insert into unpublished values ('x'); select pg_sleep(60)",
        ])
        .spawn()
        .unwrap();
    observe(
        || server.sql("select count(*) from pg_stat_activity where backend_xid is not null"),
        |n| n == "1",
    )
    .await;
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(&server).await, &ledger);
    running.phase(|phase| *phase == Phase::CreatingSlot).await;
    observe(
        || server.sql("select count(*) from pg_replication_slots where active"),
        |n| n == "1",
    )
    .await;
    running.stop().await;
    observe(|| slots(&server), |n| n == "0").await;
    server.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where backend_xid is not null",
    );
    holding.wait().unwrap();
    assert!(ledger.book().origins.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_checkpoint_takes_an_existing_slot_where_it_stands() {
    let server = shop("");
    let ledger = established(&server).await;
    ledger.forget_acked_end();
    server.down(Mode::Fast);
    server.up();
    server.sql("insert into t values (1, 'a')");
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| book.entries.len() == 1).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_table_that_was_empty_at_the_consistent_point_is_called_empty() {
    let server = shop("");
    server.sql(
        "create table emptied(id int primary key); insert into emptied values (1); \
         create table rewritten(id int primary key); insert into rewritten values (1); \
         create table parts(id int primary key) partition by list (id); \
         create table part partition of parts for values in (1); insert into parts values (1); \
         create table detached(id int primary key) partition by list (id); \
         create table piece partition of detached for values in (1); insert into detached values (1); \
         create table renamed(id int primary key); insert into renamed values (1); \
         create table vacant(id int primary key) partition by list (id); \
         create table nothing partition of vacant for values in (1); \
         create publication all_of_them for all tables with (publish_via_partition_root)",
    );
    let proxy = Proxy::to(server.port).await;
    let through = server.options_through(proxy.port, "postgres");
    let options = options_to(through, &["all_of_them"]).await;
    proxy.set(Flow::HeldBefore("row_security_active"));
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options, &ledger);
    proxy.held().await;
    server.sql(
        "truncate emptied; alter table rewritten alter id type bigint; truncate part; \
         alter table detached detach partition piece; \
         begin; alter table renamed rename to filled_once; create table renamed(id int primary key); commit",
    );
    proxy.set(Flow::Open);
    running.streaming().await;
    let book = ledger.book();
    let SlotProvenance::Created { empty_tables } = &book.origins[0].provenance else {
        panic!("the slot was created");
    };
    let empty: Vec<String> = empty_tables.iter().map(ToString::to_string).collect();
    assert_eq!(empty, ["public.t", "public.unpublished", "public.vacant"]);
    running.stop().await;
}
