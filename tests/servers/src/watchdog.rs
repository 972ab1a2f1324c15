//! Who stops a server when its test process is killed, or holds it in a static that is never dropped?
//!
//! A tiny shell that waits for the end of its standard input. We hold the other end and nobody inherits it, so
//! however this process ends, the shell wakes up, stops the server by its process id and removes the directory.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::account::Account;
use crate::error::Error;

const SCRIPT: &str = r#"
read -r line
kill -QUIT "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null && [ "$n" -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
rm -rf "$2"
"#;

/// Stops one server and removes its directory after our own death.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    pub(crate) fn guard(server: u32, directory: &Path, account: Account) -> Result<Self, Error> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "replicant-watchdog"])
            .arg(server.to_string())
            .arg(directory)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C reaches a whole process group; the watchdog must outlive it.
            .process_group(0);
        account.apply(&mut command);
        command
            .spawn()
            .map(Self)
            .map_err(Error::io("could not start", "/bin/sh"))
    }
}

/// Calls it off: the owner stops the server itself.
impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
