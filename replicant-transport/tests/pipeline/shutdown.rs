//! The source can always shut down, and comes back to a pipeline that noticed.

use std::time::{Duration, Instant};

use replicant_transport::pipeline::{Phase, Stopped};
use replicant_transport::reason::Reason;

use crate::ledger::{Draining, Ledger, Manner};
use crate::runner::{DEADLINE, Running, book, observe, options, shop};
use crate::server::Mode;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fast_shutdown_with_an_idle_consumer_is_prompt_and_the_restart_is_noticed() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    server.sql("insert into unpublished select 'x' from generate_series(1, 1000)");
    let start = Instant::now();
    let mut stopping = server.begin_down(Mode::Fast);
    observe(
        || stopping_ended(&stopping),
        |ended| *ended || start.elapsed() > DEADLINE,
    )
    .await;
    assert!(stopping.wait().unwrap().success());
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    running
        .phase(|phase| matches!(phase, Phase::Retrying { .. }))
        .await;
    server.up();
    server.sql("insert into t values (1, 'after')");
    book(&ledger, |book| book.entries.len() == 1).await;
    running.streaming().await;
    running.stop().await;
}

fn stopping_ended(child: &std::process::Child) -> bool {
    let path = format!("/proc/{}/stat", child.id());
    std::fs::read_to_string(path).is_ok_and(|stat| stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_of_the_source_in_the_middle_of_a_stream_loses_and_doubles_nothing() {
    let server = shop("");
    let ledger = Ledger::new(Manner {
        delay: Duration::from_millis(1),
        ..Manner::default()
    });
    let running = Running::start(options(&server).await, &ledger);
    book(&ledger, |book| !book.origins.is_empty()).await;
    let insert = |range: &str| {
        server.sql(&format!("do $$ begin for i in {range} loop insert into t values (i, 'x'); commit; end loop; end $$"));
    };
    insert("1..500");
    book(&ledger, |book| book.entries.len() > 50).await;
    server.down(Mode::Immediate);
    server.up();
    insert("501..600");
    book(&ledger, |book| book.entries.len() >= 600).await;
    let expected: Vec<String> = (1..=600)
        .map(|i| format!("insert public.t ({i}, x)"))
        .collect();
    assert_eq!(ledger.book().changes(), expected);
    assert!(ledger.book().sessions.len() > 1);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_does_not_wait_for_ever_for_a_sink_that_does_not_finish() {
    let server = shop("");
    let ledger = Ledger::new(Manner {
        draining: Draining::NeverEnds,
        ..Manner::default()
    });
    let mut options = options(&server).await;
    options.limits.stop = Duration::from_millis(300);
    let mut running = Running::start(options.clone(), &ledger);
    running.streaming().await;
    running.stop.cancel();
    let stopped = running.halted().await;
    assert!(
        matches!(&stopped, Stopped::Source(error) if error.reason == Reason::StopTimedOut),
        "{stopped}"
    );
    // Nor does a stop between two sessions.
    let mut running = Running::start(options, &ledger);
    running.streaming().await;
    server.down(Mode::Immediate);
    running
        .phase(|phase| matches!(phase, Phase::Retrying { .. }))
        .await;
    running.stop.cancel();
    let stopped = running.halted().await;
    assert_eq!(stopped.code(), Reason::StopTimedOut.code());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_while_retrying_is_in_order_although_the_sink_meets_the_same_trouble() {
    let server = shop("");
    let ledger = Ledger::new(Manner {
        draining: Draining::Fails,
        ..Manner::default()
    });
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    server.down(Mode::Immediate);
    running
        .phase(|phase| matches!(phase, Phase::Retrying { .. }))
        .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_whose_task_died_silently_ends_the_session() {
    let server = shop("");
    let ledger = Ledger::new(Manner::default());
    let mut running = Running::start(options(&server).await, &ledger);
    running.streaming().await;
    ledger.hang_up();
    let stopped = running.halted().await;
    assert_eq!(stopped.code(), Reason::SinkTaskEnded.code());
}
