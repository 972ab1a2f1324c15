//! Connections that break, sinks that fail, consumers that crash: everything arrives once.

use std::time::Duration;

use replicant_transport::pipeline::Phase;

use crate::ledger::{Durability, Ledger, Manner};
use crate::proxy::{Flow, Proxy};
use crate::runner::{Running, book, observe, options, options_to, shop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_cut_anywhere_are_read_again_whole() {
    let server = shop("");
    let proxy = Proxy::to(server.port).await;
    let ledger = Ledger::new(Manner::default());
    let mut options = options_to(server.options_through(proxy.port, "postgres"), &["p"]).await;
    options.retry.first = Duration::from_millis(1);
    options.retry.cap = Duration::from_millis(50);
    let running = Running::start(options, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    server.sql("do $$ begin for i in 1..300 loop insert into t select i * 10 + j, repeat('x', 50) from generate_series(0, 9) j; commit; end loop; end $$");
    for cut in [7, 900, 20_011] {
        let sessions = ledger.book().sessions.len();
        proxy.set(Flow::CutAfter(cut));
        server.sql(&format!("insert into t values ({}, 'cut')", 100_000 + cut));
        running
            .status
            .clone()
            .wait_for(|status| matches!(status.phase, Phase::Retrying { .. } | Phase::Connecting))
            .await
            .unwrap();
        proxy.set(Flow::Open);
        book(&ledger, |book| book.sessions.len() > sessions).await;
    }
    let after = book(&ledger, |book| book.entries.len() >= 303).await;
    assert_eq!(after.entries.len(), 303);
    assert!(
        after
            .entries
            .windows(2)
            .all(|pair| pair[0].commit < pair[1].commit)
    );
    assert!(
        after
            .entries
            .iter()
            .take(300)
            .all(|entry| entry.ordinals == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_connection_is_given_up() {
    let server = shop("");
    let proxy = Proxy::to(server.port).await;
    let ledger = Ledger::new(Manner::default());
    let mut options = options_to(server.options_through(proxy.port, "postgres"), &["p"]).await;
    options.limits.silence = Some(Duration::from_millis(600));
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    // An idle server answers when asked, so an idle connection lives on.
    let first = server.sql("select reply_time from pg_stat_replication");
    observe(
        || server.sql("select reply_time from pg_stat_replication"),
        |time| *time != first,
    )
    .await;
    assert_eq!(ledger.book().sessions.len(), 1);
    proxy.set(Flow::Held);
    running
        .phase(|phase| {
            matches!(
                phase,
                Phase::Retrying {
                    reason: "source_silent",
                    ..
                }
            )
        })
        .await;
    proxy.set(Flow::Open);
    // The old walsender holds the slot until it notices; the pipeline waits for it.
    server.sql("select pg_terminate_backend(pid) from pg_stat_replication");
    server.sql("insert into t values (1, 'a')");
    book(&ledger, |book| book.entries.len() == 1).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crashed_consumer_gets_again_what_was_not_durable_and_only_that() {
    let server = shop("");
    let ledger = Ledger::new(Manner {
        durability: Durability::WhenReleased,
        ..Manner::default()
    });
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    server.sql("insert into t values (1, 'durable')");
    book(&ledger, |book| book.entries.len() == 1).await;
    ledger.release();
    server.sql("insert into t values (2, 'lost')");
    let before = book(&ledger, |book| book.entries.len() == 2).await;
    running.kill().await;
    ledger.behave(Manner::default());
    let again = Running::start(options(&server).await, &ledger);
    let after = book(&ledger, |book| {
        book.sessions.len() == 2 && book.entries.len() == 2
    })
    .await;
    assert_eq!(
        after.entries, before.entries,
        "the same positions, ordinals and rows"
    );
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_that_fails_for_a_moment_is_bound_again() {
    let server = shop("");
    let ledger = Ledger::new(Manner {
        transient_failures: 2,
        ..Manner::default()
    });
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    server.sql("insert into t values (1, 'a')");
    let after = book(&ledger, |book| book.entries.len() == 1).await;
    assert_eq!(after.sessions.len(), 3);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_in_the_middle_of_a_transaction_undoes_it() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let proxy = Proxy::to(server.port).await;
    let mut options = options_to(server.options_through(proxy.port, "postgres"), &["p"]).await;
    options.limits.stop = Duration::from_millis(500);
    let mut running = Running::start(options.clone(), &ledger);
    running.streaming().await;
    // Enough to begin and to hand over batches; the rest is held back on the way.
    let sql = "insert into t select i, repeat('x', 1000) from generate_series(1, 50000) i";
    let insert = server.psql("postgres").args(["-c", sql]).spawn();
    let mut watch = ledger.watch();
    watch.wait_for(|book| book.batches > 0).await.unwrap();
    proxy.set(Flow::Held);
    running.stop().await;
    let stopped = ledger.book();
    insert.unwrap().wait().unwrap();
    assert_eq!(
        (stopped.aborted, stopped.drained, stopped.entries.len()),
        (1, 1, 0)
    );
    proxy.set(Flow::Open);
    server.sql("select pg_terminate_backend(pid) from pg_stat_replication");
    let again = Running::start(options, &ledger);
    let after = book(&ledger, |book| book.entries.len() == 1).await;
    assert_eq!(after.entries[0].ordinals.len(), 50_000);
    again.stop().await;
}
