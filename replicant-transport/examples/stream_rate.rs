//! How fast a slot streams into a sink that only counts: `cargo run --release --example stream_rate -- CONNINFO SLOT PUBLICATION`.
//!
//! The slot must exist; the run ends when everything written before it started has been read, and prints one line of
//! JSON. Nothing is acknowledged, so the same backlog can be read again, by this or by `pg_recvlogical`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss
)]

use std::fmt;
use std::time::Instant;

use replicant_transport::Sink;
use replicant_transport::ack::{Durable, IdlePoint, Receipt};
use replicant_transport::change::Change;
use replicant_transport::connect::{ConnectOptions, ProcessEnvironment};
use replicant_transport::ident::{Ident, SlotName};
use replicant_transport::pipeline::{
    Limits, Phase, Retry, SourceOptions, Status, Stopped, probe, run,
};
use replicant_transport::position::EndLsn;
use replicant_transport::reason::Class;
use replicant_transport::sink::{Begin, Feedback, RelationSeen, Resume, SinkError, ValueFormat};
use replicant_transport::source::{Session, Slot};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug)]
struct Never;

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("never")
    }
}

impl SinkError for Never {
    fn code(&self) -> &'static str {
        "never"
    }
    fn class(&self) -> Class {
        Class::Terminal
    }
}

/// Counts, and tells when the first transaction came.
struct Counter {
    format: ValueFormat,
    /// A sink that lets go of its line has ended.
    feedback: Option<Feedback<Never>>,
}

impl Sink for Counter {
    type Error = Never;

    async fn bind(&mut self, _: &Session, feedback: Feedback<Never>) -> Result<Resume, Never> {
        self.feedback = Some(feedback);
        Ok(Resume {
            watermark: None,
            acked_end: None,
            format: self.format,
        })
    }
    async fn origin(&mut self, slot: &Slot) -> Result<EndLsn, Never> {
        Ok(slot.origin)
    }
    async fn relation(&mut self, _: RelationSeen) -> Result<(), Never> {
        Ok(())
    }
    async fn begin(&mut self, _: Begin) -> Result<(), Never> {
        Ok(())
    }
    async fn changes(&mut self, batch: Vec<Change>) -> Result<(), Never> {
        std::hint::black_box(batch);
        Ok(())
    }
    async fn commit(&mut self, receipt: Receipt) -> Result<(), Never> {
        drop(std::hint::black_box(receipt));
        Ok(())
    }
    async fn abort(&mut self) -> Result<(), Never> {
        Ok(())
    }
    async fn settle(&mut self, _: IdlePoint) -> Result<Option<Durable>, Never> {
        Ok(None)
    }
    async fn drain(&mut self) -> Result<(), Never> {
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Stopped<Never>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [conninfo, slot, publication, rest @ ..] = arguments.as_slice() else {
        println!("usage: stream_rate CONNINFO SLOT PUBLICATION [binary]");
        return Ok(());
    };
    let connect = ConnectOptions::parse(conninfo, &ProcessEnvironment)?;
    let slot = SlotName::new(slot).expect("a slot name");
    let publications = vec![Ident::new(publication).expect("a publication name")];
    let session = probe(&connect, &slot, &publications, None).await?;
    let options = SourceOptions {
        connect,
        slot,
        publications,
        expected: session.identity.source(),
        limits: Limits::default(),
        retry: Retry::default(),
    };
    let format = if rest.first().is_some_and(|word| word == "binary") {
        ValueFormat::Binary
    } else {
        ValueFormat::Text
    };
    let (sender, mut status) = watch::channel(Status::new());
    let stop = CancellationToken::new();
    let running = tokio::spawn(run(
        options,
        Counter {
            format,
            feedback: None,
        },
        sender,
        stop.clone(),
    ));
    let streaming = |status: &Status| !matches!(status.phase, Phase::Connecting);
    status.wait_for(streaming).await.expect("it runs");
    let start = Instant::now();
    let reached = |status: &Status| status.phase == Phase::Streaming;
    let read = *status.wait_for(reached).await.expect("it runs");
    let seconds = start.elapsed().as_secs_f64();
    stop.cancel();
    running.await.expect("it does not panic")?;
    println!(
        "{{\"transactions\":{},\"changes\":{},\"seconds\":{seconds:.3},\"rows_per_s\":{:.0}}}",
        read.transactions,
        read.changes,
        read.changes as f64 / seconds
    );
    Ok(())
}
