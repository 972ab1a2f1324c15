//! Runs a pipeline and waits for what is observed of it, always with a deadline.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use replicant_transport::connect::ConnectOptions;
use replicant_transport::ident::{Ident, SlotName};
use replicant_transport::pipeline::{
    Limits, Phase, Retry, SourceOptions, Status, Stopped, probe, run,
};
use replicant_transport::source::ExpectedSource;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::ledger::{Book, Ledger, LedgerError};
use crate::server::Server;

pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Running {
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) stop: CancellationToken,
    task: JoinHandle<Result<(), Stopped<LedgerError>>>,
}

/// The usual options: slot `s`, publication `p`, this server.
pub(crate) async fn options(server: &Server) -> SourceOptions {
    options_to(server.options(), &["p"]).await
}

pub(crate) async fn options_to(connect: ConnectOptions, publications: &[&str]) -> SourceOptions {
    let publications: Vec<Ident> = publications
        .iter()
        .map(|name| Ident::new(name).unwrap())
        .collect();
    let slot = SlotName::new("s").unwrap();
    let expected = match probe(&connect, &slot, &publications, None).await {
        Ok(session) => session.identity.source(),
        // Tests of refusals give what they need themselves.
        Err(_) => "1/postgres".parse::<ExpectedSource>().unwrap(),
    };
    SourceOptions {
        connect,
        slot,
        publications,
        expected,
        limits: Limits::default(),
        retry: Retry {
            first: Duration::from_millis(50),
            ..Retry::default()
        },
    }
}

impl Running {
    pub(crate) fn start(options: SourceOptions, ledger: &Ledger) -> Self {
        let (sender, status) = watch::channel(Status::new());
        let stop = CancellationToken::new();
        let task = tokio::spawn(run(options, ledger.sink(), sender, stop.clone()));
        Self { status, stop, task }
    }

    pub(crate) async fn phase(&mut self, what: impl Fn(&Phase) -> bool) -> Status {
        self.until(|status| what(&status.phase)).await
    }

    pub(crate) async fn streaming(&mut self) -> Status {
        self.phase(|phase| *phase == Phase::Streaming).await
    }

    pub(crate) async fn until(&mut self, what: impl Fn(&Status) -> bool) -> Status {
        let outcome =
            tokio::time::timeout(DEADLINE, self.status.wait_for(|status| what(status))).await;
        let reached = outcome.ok().and_then(Result::ok).map(|status| *status);
        reached.unwrap_or_else(|| panic!("never came: {:?}", *self.status.borrow()))
    }

    /// Stops it and expects that it was in order.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let outcome = tokio::time::timeout(DEADLINE, self.task)
            .await
            .expect("stops in time");
        outcome.unwrap().unwrap();
    }

    /// Kills it as a crash would: nothing is finished.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }

    /// Waits until it halts and says why.
    pub(crate) async fn halted(self) -> Stopped<LedgerError> {
        let outcome = tokio::time::timeout(DEADLINE, self.task)
            .await
            .expect("halts in time");
        outcome.unwrap().unwrap_err()
    }
}

/// Waits until the book looks like this.
pub(crate) async fn book(ledger: &Ledger, what: impl Fn(&Book) -> bool) -> Book {
    let mut watch = ledger.watch();
    let outcome = tokio::time::timeout(DEADLINE, watch.wait_for(|book| what(book))).await;
    match outcome {
        Ok(Ok(book)) => book.clone(),
        _ => panic!("never came: {:?}", ledger.book()),
    }
}

/// Asks again until the answer is accepted.
pub(crate) async fn observe<T: Debug>(ask: impl Fn() -> T, accept: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let answer = ask();
        if accept(&answer) {
            return answer;
        }
        assert!(start.elapsed() < DEADLINE, "never accepted: {answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A server with a table `t`, a table nobody publishes, and the publication `p`.
pub(crate) fn shop(settings: &str) -> Server {
    let server = Server::start(settings);
    server.sql(
        "create table t(id bigint primary key, v text); create table unpublished(v text); \
         create table filled(id int primary key); insert into filled values (1); \
         create publication p for table t, filled",
    );
    server
}
