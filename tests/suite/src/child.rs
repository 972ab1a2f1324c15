//! How is a mirror run as a process of its own, which can die at a named step or at any moment?

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::process::{Child, Command};

use crate::World;
use crate::world::{DEADLINE, PUBLICATION};

/// The variable that tells the child what to mirror.
pub const DESCRIPTION: &str = "MIRROR_PROCESS";

/// A mirror in a process of its own. It stops when its standard input closes, so it never outlives its test.
#[derive(Debug)]
pub struct MirrorProcess {
    child: Child,
}

impl MirrorProcess {
    /// Starts the program of `src/bin/mirror-process.rs` for these tables. `failpoint` is a step, or `step:number`.
    ///
    /// # Panics
    /// When the process cannot be started.
    pub async fn spawn(
        program: &str,
        world: &World,
        tables: &[&str],
        failpoint: Option<&str>,
    ) -> Self {
        let identity = world.cluster.source_identity(&world.source_database).await;
        let description = serde_json::json!({
            "source": world.source_conninfo,
            "destination": world.destination_conninfo,
            "identity": identity.unwrap(),
            "publication": PUBLICATION,
            "slot": world.slot,
            "tables": tables,
        });
        let mut command = Command::new(PathBuf::from(program));
        command
            .env(DESCRIPTION, description.to_string())
            .env_remove("REPLICANT_FAILPOINT")
            .stdin(Stdio::piped())
            .kill_on_drop(true);
        if let Some(failpoint) = failpoint {
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

    /// Waits for its end.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn wait(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        ended.expect("the mirror process did not end").unwrap()
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
