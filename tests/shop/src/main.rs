//! The shop's mirror as a program: `replicant-shop run`, and the operator commands on the same pipeline.
//!
//! `run versions` and `run events` keep the products' history and the log of their changes instead, `run accounts` and
//! `run sealed` mirror accounts; the last has its keys in `SHOP_KEYS`.
//! It is configured by `REPLICANT_SHOP_SOURCE`, `REPLICANT_SHOP_DESTINATION` and `REPLICANT_SHOP_SOURCE_IDENTITY`.
//! `run --wait` stands by while another process runs it, and takes over when that one ends.
//! `run` prints a JSON line whenever something was committed on the mirror, at most ten in a second, and stops
//! cleanly on SIGTERM and Ctrl-C.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use replicant_sink::Error;
use replicant_sink::options::Takeover;
use replicant_sink::pipeline::{Handle, Pipeline};
use tokio::signal::unix::{SignalKind, signal};

const BETWEEN_LINES: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let waits = arguments.iter().any(|argument| argument == "--wait");
    let runs = arguments.first().is_some_and(|argument| argument == "run");
    let name = arguments.get(1).filter(|name| runs && *name != "--wait");
    let Some(pipeline) = replicant_shop::named(name.map_or("shop", String::as_str)) else {
        let _ = writeln!(
            std::io::stderr(),
            "no such pipeline; there are shop, versions, events, accounts and sealed"
        );
        return ExitCode::from(3);
    };
    let pipeline = match pipeline.configured_by_environment() {
        Ok(pipeline) if waits => pipeline.takeover(Takeover::Wait),
        Ok(pipeline) => pipeline,
        Err(error) => {
            complain(&error);
            return ExitCode::from(3);
        }
    };
    if !runs {
        return replicant_cli::main([pipeline]);
    }
    replicant_cli::withhold_panic_messages();
    let Ok(runtime) = tokio::runtime::Runtime::new() else {
        return ExitCode::from(3);
    };
    match runtime.block_on(run(&pipeline)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(1)
        }
    }
}

async fn run(pipeline: &Pipeline) -> Result<(), Error> {
    let handle = pipeline.start().await?;
    let mut changes = handle.progress_changes();
    let mut terminate = signal(SignalKind::terminate()).ok();
    loop {
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() {
                    return handle.join().await;
                }
                report(&handle);
                tokio::time::sleep(BETWEEN_LINES).await;
            }
            _ = tokio::signal::ctrl_c() => return handle.stop().await,
            () = terminated(terminate.as_mut()) => return handle.stop().await,
        }
    }
}

async fn terminated(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

fn report(handle: &Handle) {
    let progress = handle.progress();
    let line = format!(
        "{{\"event\":\"progress\",\"transactions\":{},\"changes\":{},\"groups\":{}}}",
        progress.transactions, progress.changes, progress.groups
    );
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn complain(error: &Error) {
    let _ = writeln!(std::io::stderr(), "{error}");
}
