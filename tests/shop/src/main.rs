//! The shop's mirror as a program: `replicant-shop run`, and the operator commands on the same pipeline.
//!
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
    let mut arguments = std::env::args().skip(1);
    let (what, how) = (arguments.next(), arguments.next());
    let pipeline = match replicant_shop::pipeline().configured_by_environment() {
        Ok(pipeline) if how.as_deref() == Some("--wait") => pipeline.takeover(Takeover::Wait),
        Ok(pipeline) => pipeline,
        Err(error) => {
            complain(&error);
            return ExitCode::from(3);
        }
    };
    if what.as_deref() != Some("run") {
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
