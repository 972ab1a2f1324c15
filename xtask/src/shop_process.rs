//! How does a command run the shop's pipeline? As a process of its own, so that it can be killed and measured.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use replicant_shop::schema::KEYS_VARIABLE;
use rustix::process::{Pid, Signal, kill_process};

use crate::run::{Failure, cargo, pass_through};
use crate::workspace;

/// How the program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    /// Quick to build: for the demo.
    Development,
    /// As deployed: for measurements.
    Release,
}

/// The compiled program.
#[derive(Clone, Debug)]
pub(crate) struct Program(PathBuf);

/// Where a pipeline reads and writes.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// Which of the shop's pipelines.
    pub(crate) pipeline: &'static str,
    pub(crate) source: String,
    pub(crate) destination: String,
    /// `<system identifier>/<database>`.
    pub(crate) source_identity: String,
    pub(crate) constraints: Constraints,
}

/// The pipeline's `destination_constraints`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Constraints {
    Deferred,
    Trusted,
}

impl Program {
    pub(crate) fn build(profile: Profile) -> Result<Self, Failure> {
        let mut command = cargo(&["build", "--quiet", "--package", "replicant-shop"]);
        let folder = match profile {
            Profile::Development => "debug",
            Profile::Release => {
                command.arg("--release");
                "release"
            }
        };
        pass_through(&mut command)?;
        let target = workspace::metadata()?.target_directory;
        Ok(Self(target.join(folder).join("replicant-shop").into()))
    }

    /// Starts the pipeline; it runs until it is stopped or killed.
    pub(crate) fn start(&self, ends: &Ends) -> Result<ShopProcess, Failure> {
        let constraints = match ends.constraints {
            Constraints::Deferred => "deferred",
            Constraints::Trusted => "trusted",
        };
        let prefix = format!("REPLICANT_{}", ends.pipeline.to_uppercase());
        Command::new(&self.0)
            .args(["run", ends.pipeline])
            .env(format!("{prefix}_SOURCE"), &ends.source)
            .env(format!("{prefix}_DESTINATION"), &ends.destination)
            .env(format!("{prefix}_SOURCE_IDENTITY"), &ends.source_identity)
            .env(format!("{prefix}_DESTINATION_CONSTRAINTS"), constraints)
            .env(KEYS_VARIABLE, format!("measured={}", "5a".repeat(32)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .map(|child| ShopProcess { child })
            .map_err(|error| Failure::Unanswerable(format!("the shop did not start: {error}")))
    }
}

/// A running pipeline. Killed when dropped.
#[derive(Debug)]
pub(crate) struct ShopProcess {
    child: Child,
}

/// What a process has used so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Usage {
    pub(crate) peak_rss_mib: f64,
    pub(crate) cpu_seconds: f64,
}

impl ShopProcess {
    pub(crate) fn usage(&self) -> Usage {
        usage_of(self.child.id())
    }

    /// SIGKILL, as an out-of-memory killer or a lost machine.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Has it ended although nobody stopped it?
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// SIGTERM, then waits for a clean end.
    pub(crate) fn stop(mut self) -> Result<(), Failure> {
        let process = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(process) = process {
            kill_process(process, Signal::TERM).map_err(std::io::Error::from)?;
        }
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return if status.success() {
                    Ok(())
                } else {
                    Err(Failure::Failed(format!("the pipeline ended with {status}")))
                };
            }
            if Instant::now() > deadline {
                return Err(Failure::Failed("the pipeline did not stop".to_owned()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for ShopProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads `/proc`; zero where there is none.
pub(crate) fn usage_of(process: u32) -> Usage {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak_kib: f64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0);
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Fields 14 and 15, counted from behind the name, which may hold spaces; in ticks of 10 ms.
    let ticks: f64 = stat
        .rsplit_once(')')
        .map(|(_, rest)| {
            rest.split_whitespace()
                .skip(11)
                .take(2)
                .filter_map(|field| field.parse::<f64>().ok())
                .sum()
        })
        .unwrap_or(0.0);
    Usage {
        peak_rss_mib: peak_kib / 1024.0,
        cpu_seconds: ticks / 100.0,
    }
}
