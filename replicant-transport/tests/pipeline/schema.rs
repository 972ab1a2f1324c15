//! Changes of the source's schema and publications that the stream does not show.

use std::time::Duration;

use replicant_transport::pipeline::{SourceOptions, Stopped};
use replicant_transport::reason::Reason;

use crate::ledger::{Ledger, Manner};
use crate::runner::{Running, book, options, options_to, shop};
use crate::server::Server;

async fn often(server: &Server) -> SourceOptions {
    let mut options = options(server).await;
    options.limits.publication_check = Duration::from_millis(100);
    options
}

fn reason(stopped: &Stopped<crate::ledger::LedgerError>) -> Reason {
    match stopped {
        Stopped::Source(error) => error.reason,
        Stopped::Sink(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_replaced_under_its_own_name_halts_before_its_rows() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    server.sql("insert into t values (1, 'a')");
    book(&ledger, |book| book.entries.len() == 1).await;
    server.sql("alter table t drop column v; alter table t add column v text; insert into t values (2, 'b')");
    let stopped = running.halted().await;
    assert_eq!(reason(&stopped), Reason::SourceColumnReplaced);
    assert!(
        stopped.to_string().contains("table public.t column v"),
        "{stopped}"
    );
    assert_eq!(ledger.book().entries.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_described_again_without_a_change_goes_on() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    server.sql("insert into t values (1, 'a')");
    server
        .sql("analyze t; alter table t add column w int default 5; insert into t values (2, 'b')");
    let after = book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(after.changes()[1], "insert public.t (2, b, 5)");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_the_backlog_are_described_as_they_were_when_written() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    running.stop().await;
    // What is asked before streaming must not leak into how older rows are decoded.
    server.sql("insert into t values (1, 'then'); alter table t add column w int default 5; insert into t values (2, 'now')");
    let again = Running::start(options(&server).await, &ledger);
    let after = book(&ledger, |book| book.entries.len() == 2).await;
    assert_eq!(
        after.changes(),
        ["insert public.t (1, then)", "insert public.t (2, now, 5)"]
    );
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_leaves_the_publication_halts() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(often(&server).await, &ledger);
    running.streaming().await;
    server.sql("alter publication p drop table t");
    let stopped = running.halted().await;
    assert_eq!(reason(&stopped), Reason::PublicationChanged);
    assert!(stopped.to_string().contains("table public.t"), "{stopped}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_created_again_under_its_name_halts() {
    let server = shop("");
    server.sql("create publication everything for all tables");
    let ledger = Ledger::new(Manner::default());
    let mut options = options_to(server.options(), &["everything"]).await;
    options.limits.publication_check = Duration::from_millis(100);
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    server.sql("begin; drop table t; create table t(id bigint primary key, v text); commit");
    assert_eq!(reason(&running.halted().await), Reason::SourceTableReplaced);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_publication_halts_while_streaming() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    server.sql("drop publication p; insert into t values (1, 'a')");
    assert_eq!(reason(&running.halted().await), Reason::PublicationMissing);
    let mut again = options_to(server.options(), &["p"]).await;
    again.expected = ledger.book().sessions[0].identity.source();
    let stopped = Running::start(again, &ledger).halted().await;
    assert_eq!(reason(&stopped), Reason::PublicationMissing);
}
