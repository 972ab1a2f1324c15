//! What the server is told: never more than what is durable, and no less than what a quiet source allows.

use std::time::Duration;

use replicant_transport::position::Lsn;

use crate::ledger::{Durability, Ledger, Manner};
use crate::runner::{Running, book, observe, options, shop};
use crate::server::Server;

fn confirmed(server: &Server) -> Lsn {
    server
        .sql("select confirmed_flush_lsn from pg_replication_slots where slot_name = 's'")
        .parse()
        .unwrap()
}

fn wal(server: &Server) -> Lsn {
    server.sql("select pg_current_wal_lsn()").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_beyond_what_is_durable_is_acknowledged() {
    let server = shop("wal_sender_timeout = 1s");
    let ledger = Ledger::new(Manner {
        durability: Durability::WhenReleased,
        ..Manner::default()
    });
    let mut options = options(&server).await;
    options.limits.idle.interval = Duration::from_millis(100);
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    server.sql("insert into t values (1, 'held')");
    let before = book(&ledger, |book| book.entries.len() == 1).await;
    let commit = before.entries[0].commit.lsn();
    // Unpublished traffic and keepalives must not carry the acknowledgement past the held transaction.
    server.sql("insert into unpublished select repeat('x', 1000) from generate_series(1, 5000)");
    let unpublished = wal(&server);
    running
        .until(|status| status.received.is_some_and(|end| end.lsn() >= unpublished))
        .await;
    observe(|| server.sql("select now() - reply_time < '600ms' and write_lsn >= sent_lsn from pg_stat_replication"), |fresh| fresh == "t").await;
    assert!(
        confirmed(&server) <= commit,
        "{:?} > {commit:?}",
        confirmed(&server)
    );
    ledger.release();
    observe(|| confirmed(&server), |at| *at >= unpublished).await;
    assert_eq!(ledger.book().sessions.len(), 1);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_publication_lets_the_slot_move() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut options = options(&server).await;
    options.limits.idle.interval = Duration::from_millis(100);
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    let restart = || -> Lsn {
        server
            .sql("select restart_lsn from pg_replication_slots where slot_name = 's'")
            .parse()
            .unwrap()
    };
    let first = restart();
    server.sql("insert into unpublished select repeat('x', 1000) from generate_series(1, 20000)");
    let after = wal(&server);
    observe(|| confirmed(&server), |at| *at >= after).await;
    // restart_lsn follows once the server logged its running transactions.
    observe(
        || {
            server.sql("checkpoint; insert into unpublished values ('y')");
            restart()
        },
        |at| *at > first,
    )
    .await;
    assert!(ledger.book().entries.is_empty());
    assert!(
        ledger.book().acked_end.unwrap().lsn() >= after,
        "recorded before it was acknowledged"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_sink_keeps_its_session() {
    let server = shop("wal_sender_timeout = 1s");
    let ledger = Ledger::new(Manner {
        delay: Duration::from_secs(4),
        ..Manner::default()
    });
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    server.sql("insert into t values (1, 'slow')");
    server.sql("insert into t values (2, 'slow')");
    book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(
        ledger.book().sessions.len(),
        1,
        "the server ended the session"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_stops_reading_and_keeps_the_session() {
    let server = shop("wal_sender_timeout = 1s");
    let ledger = Ledger::new(Manner {
        delay: Duration::from_secs(4),
        ..Manner::default()
    });
    let mut options = options(&server).await;
    options.limits.max_inflight = 64 * 1024;
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    server.sql("insert into t values (0, 'first')");
    server.sql("insert into t select i, repeat('x', 1000) from generate_series(1, 20000) i");
    let after = book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(after.entries[1].ordinals.len(), 20_000);
    assert_eq!(after.sessions.len(), 1, "the server ended the session");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_timeout_still_hears_from_us() {
    let server = shop("wal_sender_timeout = 0");
    let ledger = Ledger::new(Manner::default());
    let mut options = options(&server).await;
    options.limits.status_interval = Duration::from_millis(200);
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    server.sql("insert into t values (1, 'a')");
    book(&ledger, |book| book.entries.len() == 1).await;
    let end = ledger.book().entries[0].commit.lsn();
    observe(|| confirmed(&server), |at| *at > end).await;
    let first = server.sql("select reply_time from pg_stat_replication");
    observe(
        || server.sql("select reply_time from pg_stat_replication"),
        |time| *time != first,
    )
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_server_hears_from_us_before_it_ever_sent_a_change() {
    let server = shop("wal_sender_timeout = 0");
    let ledger = Ledger::new(Manner::default());
    let mut options = options(&server).await;
    options.limits.status_interval = Duration::from_millis(200);
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    let heard = || server.sql("select coalesce(reply_time::text, '') from pg_stat_replication");
    let first = observe(heard, |time| !time.trim().is_empty()).await;
    observe(heard, |time| *time != first).await;
    assert!(ledger.book().entries.is_empty());
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_settles_what_is_quiet_and_nothing_is_sent_again() {
    let server = shop("");
    let ledger = Ledger::new(Manner {
        durability: Durability::WhenReleased,
        ..Manner::default()
    });
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    server.sql("insert into t values (1, 'a')");
    book(&ledger, |book| book.entries.len() == 1).await;
    running.stop().await;
    let commit = ledger.book().entries[0].commit.lsn();
    assert!(
        confirmed(&server) > commit,
        "drained and acknowledged before the stream ended"
    );
    let mut again = Running::start(options(&server).await, &ledger);
    again.streaming().await;
    server.sql("insert into t values (2, 'b')");
    book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(ledger.book().redelivered, 0);
    again.stop().await;
}
