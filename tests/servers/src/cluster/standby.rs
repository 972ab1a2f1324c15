//! A standby: a copy of a primary that follows it. Copied while the primary is stopped, because not every installation
//! has `pg_basebackup`.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Cluster, Shutdown, State, free_port};
use crate::error::Error;

impl Cluster {
    /// Stops this server, copies it, and starts both again, the copy as a hot standby of the original.
    ///
    /// # Errors
    /// When the copy fails or either does not start.
    pub fn standby(&mut self) -> Result<Self, Error> {
        self.stop(Shutdown::Fast)?;
        let temporary = std::env::temp_dir();
        let home = tempfile::Builder::new()
            .prefix("replicant-pg-")
            .tempdir()
            .map_err(Error::io("could not create a directory in", temporary))?;
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755))
            .map_err(Error::io("could not open up", home.path()))?;
        self.account.own(home.path())?;
        let mut copy = Command::new("cp");
        copy.arg("--archive").arg(self.data()).arg(home.path());
        let copied = copy.output().map_err(Error::io("could not run", "cp"))?;
        if !copied.status.success() {
            return Err(Error::Program {
                program: "cp".to_owned(),
                output: String::from_utf8_lossy(&copied.stderr).trim().to_owned(),
            });
        }
        let mut standby = Self {
            installation: self.installation.clone(),
            account: self.account,
            port: free_port()?,
            directory: home.path().to_path_buf(),
            home: Some(home),
            state: State::Stopped,
        };
        let signal = standby.data().join("standby.signal");
        File::create(&signal).map_err(Error::io("could not create", &signal))?;
        standby.account.own(&signal)?;
        let socket = standby.directory.display().to_string();
        let port = standby.port.to_string();
        let primary = format!("host=127.0.0.1 port={} user=postgres", self.port);
        for (name, value) in [
            ("unix_socket_directories", socket.as_str()),
            ("port", port.as_str()),
            ("primary_conninfo", primary.as_str()),
            ("hot_standby_feedback", "on"),
        ] {
            standby.set(name, value)?;
        }
        self.start()?;
        standby.start()?;
        Ok(standby)
    }
}
