//! How is a mirror run as a process of its own, which can die at a named step or at any moment?

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use replicant_sink::options::Takeover;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::World;
use crate::world::{DEADLINE, PUBLICATION};

/// The variable that tells the child what to mirror.
pub const DESCRIPTION: &str = "MIRROR_PROCESS";

/// What is mirrored instead of named tables: the declared shop whose actions call hooks.
pub const HOOKED: &str = "hooked";

/// How a process is started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Launch {
    /// A step, or `step:number`, at which it dies.
    pub failpoint: Option<String>,
    /// What it does when another process runs the mirror.
    pub takeover: Takeover,
    /// How often a key was added to its vault.
    pub rotations: u8,
}

impl Launch {
    /// It dies at this step, or `step:number`.
    pub fn dying_at(failpoint: &str) -> Self {
        Self {
            failpoint: Some(failpoint.to_owned()),
            ..Self::default()
        }
    }

    /// It waits for the end of a process that runs the mirror.
    pub fn standing_by() -> Self {
        Self {
            takeover: Takeover::Wait,
            ..Self::default()
        }
    }
}

/// A mirror in a process of its own. It stops when its standard input closes, so it never outlives its test.
#[derive(Debug)]
pub struct MirrorProcess {
    child: Child,
}

impl MirrorProcess {
    /// Starts the program of `src/bin/mirror-process.rs` for these tables.
    ///
    /// # Panics
    /// When the process cannot be started.
    pub async fn spawn(program: &str, world: &World, tables: &[&str], launch: Launch) -> Self {
        let identity = world.cluster.source_identity(&world.source_database).await;
        let description = serde_json::json!({
            "source": world.source_conninfo,
            "destination": world.destination_conninfo,
            "identity": identity.unwrap(),
            "publication": PUBLICATION,
            "slot": world.slot,
            "tables": tables,
            "takeover": match launch.takeover {
                Takeover::Refuse => "refuse",
                Takeover::Wait => "wait",
            },
            "rotations": launch.rotations,
        });
        let mut command = Command::new(PathBuf::from(program));
        command
            .env(DESCRIPTION, description.to_string())
            .env_remove("REPLICANT_FAILPOINT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        if let Some(failpoint) = launch.failpoint {
            command.env("REPLICANT_FAILPOINT", failpoint);
        }
        Self {
            child: command.spawn().unwrap(),
        }
    }

    /// How it ended, if it has.
    ///
    /// # Panics
    /// When the system does not tell.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits until it ends by itself.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn wait(&mut self) -> ExitStatus {
        // Waiting would close its input, which asks it to stop.
        let input = self.child.stdin.take();
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        drop(input);
        ended.expect("the mirror process did not end").unwrap()
    }

    /// Waits for its end and returns the code and the words of the reason for it; empty when it had none.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn reason(&mut self) -> String {
        self.wait().await;
        let mut said = String::new();
        let mut output = self.child.stdout.take().unwrap();
        output.read_to_string(&mut said).await.unwrap();
        said.trim().to_owned()
    }

    /// Stops its clock: SIGSTOP.
    ///
    /// # Panics
    /// When the system refuses.
    pub fn pause(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
    }

    /// Lets it go on: SIGCONT.
    ///
    /// # Panics
    /// When the system refuses.
    pub fn resume(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    fn pid(&self) -> Pid {
        let id = self.child.id().expect("a process that has not ended");
        Pid::from_raw(i32::try_from(id).unwrap()).unwrap()
    }

    /// Kills it with SIGKILL and waits for its end.
    ///
    /// # Panics
    /// When the system refuses.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks it to stop and waits for its end.
    ///
    /// # Panics
    /// When it does not stop in good order.
    pub async fn stop(mut self) {
        drop(self.child.stdin.take());
        let status = self.wait().await;
        assert!(status.success(), "the mirror process stopped with {status}");
    }
}
