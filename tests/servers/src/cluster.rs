//! A private, throw-away PostgreSQL server: how is it made, stopped, killed and started again?
//!
//! It lives in a temporary directory, listens on a free port of 127.0.0.1 and on a Unix socket in that directory,
//! and trusts every login. It is stopped by process id when dropped; its log is kept when that happens during a
//! panic.

use std::fs::{self, File, OpenOptions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

mod standby;

use crate::account::Account;
use crate::error::Error;
use crate::installation::Installation;
use crate::watchdog::Watchdog;

const START_DEADLINE: Duration = Duration::from_secs(60);
const STOP_DEADLINE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

/// Does the server survive a power failure?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// `fsync = off`: survives being killed, not a power failure. Right for tests.
    Process,
    /// `fsync = on`: as in production. Right for measurements.
    PowerFailure,
}

/// How a server is asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// Disconnect everybody, write a checkpoint. Waits for replication clients to confirm what was sent.
    Fast,
    /// Abort at once; the next start runs crash recovery.
    Immediate,
}

/// Settings of a cluster that does not exist yet.
#[derive(Clone, Debug)]
pub struct ClusterBuilder {
    installation: Installation,
    settings: Vec<(String, String)>,
}

impl ClusterBuilder {
    /// A cluster of this installation, ready for logical replication, not durable.
    pub fn new(installation: &Installation) -> Self {
        let defaults = [
            ("wal_level", "logical"),
            ("max_wal_senders", "20"),
            ("max_replication_slots", "20"),
            ("max_connections", "100"),
            ("max_worker_processes", "16"),
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("log_line_prefix", "%m [%p] %q%a "),
        ];
        Self {
            installation: installation.clone(),
            settings: defaults
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        }
    }

    /// Adds a server setting; a later one wins.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Chooses between fast and durable.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        let value = match durability {
            Durability::Process => "off",
            Durability::PowerFailure => "on",
        };
        self.setting("fsync", value)
            .setting("full_page_writes", value)
    }

    /// Creates the cluster and starts it; returns when it accepts connections.
    ///
    /// # Errors
    /// When a program of the installation fails; the message carries what it printed.
    pub fn start(self) -> Result<Cluster, Error> {
        let account = Account::for_servers();
        let temporary = std::env::temp_dir();
        let home = tempfile::Builder::new()
            .prefix("replicant-pg-")
            .tempdir()
            .map_err(Error::io("could not create a directory in", temporary))?;
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755))
            .map_err(Error::io("could not open up", home.path()))?;
        account.own(home.path())?;
        initialise(&self.installation, account, home.path())?;
        let mut cluster = Cluster {
            installation: self.installation,
            account,
            port: free_port()?,
            directory: home.path().to_path_buf(),
            home: Some(home),
            state: State::Stopped,
        };
        let socket = cluster.directory.display().to_string();
        let port = cluster.port.to_string();
        for (name, value) in [
            ("listen_addresses", "127.0.0.1"),
            ("unix_socket_directories", socket.as_str()),
            ("port", port.as_str()),
        ] {
            cluster.set(name, value)?;
        }
        for (name, value) in &self.settings {
            cluster.set(name, value)?;
        }
        cluster.start()?;
        Ok(cluster)
    }
}

/// A running or stopped private server.
#[derive(Debug)]
pub struct Cluster {
    installation: Installation,
    account: Account,
    port: u16,
    directory: PathBuf,
    home: Option<TempDir>,
    state: State,
}

#[derive(Debug)]
enum State {
    Stopped,
    Running { server: Child, watchdog: Watchdog },
}

impl Cluster {
    /// A cluster with the defaults of [`ClusterBuilder::new`], of the installation this run uses.
    ///
    /// # Errors
    /// When there is no installation or it does not start.
    pub fn start_default() -> Result<Self, Error> {
        ClusterBuilder::new(&Installation::selected()?).start()
    }

    /// Its binaries.
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Its port, on 127.0.0.1 and in the name of its Unix socket.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its directory, which is also that of its Unix socket.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its log.
    pub fn log(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    /// Writes a setting that holds from the next start on; `ALTER SYSTEM` and a reload change it at once.
    ///
    /// # Errors
    /// When the configuration file cannot be written.
    pub fn set(&self, name: &str, value: &str) -> Result<(), Error> {
        self.append(
            "postgresql.conf",
            &format!("{name} = '{}'", value.replace('\'', "''")),
        )
    }

    /// Puts a line in front of `pg_hba.conf`; it holds from the next start or reload on.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn access_rule(&self, line: &str) -> Result<(), Error> {
        let path = self.data().join("pg_hba.conf");
        let rest = fs::read_to_string(&path).map_err(Error::io("could not read", &path))?;
        fs::write(&path, format!("{line}\n{rest}")).map_err(Error::io("could not write", path))
    }

    /// Starts it and waits until it accepts connections.
    ///
    /// # Errors
    /// When it ends instead; the message carries the end of its log.
    pub fn start(&mut self) -> Result<(), Error> {
        if matches!(self.state, State::Running { .. }) {
            return Ok(());
        }
        let deadline = Instant::now() + START_DEADLINE;
        loop {
            let mut server = self.spawn()?;
            match self.await_ready(&mut server, deadline) {
                Ok(()) => {
                    let watchdog = Watchdog::guard(server.id(), &self.directory, self.account)?;
                    self.state = State::Running { server, watchdog };
                    return Ok(());
                }
                // The children of a killed server need a moment to notice; until then its memory is in use.
                Err(Error::NotReady { log })
                    if log.contains("pre-existing shared memory") && Instant::now() < deadline =>
                {
                    std::thread::sleep(POLL);
                }
                Err(error) => {
                    let _ = server.kill();
                    let _ = server.wait();
                    return Err(error);
                }
            }
        }
    }

    /// Stops it and waits for its end.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(&mut self, shutdown: Shutdown) -> Result<(), Error> {
        // The names of the signals are PostgreSQL's: INT is its fast shutdown, QUIT its immediate one.
        self.signal(match shutdown {
            Shutdown::Fast => Signal::INT,
            Shutdown::Immediate => Signal::QUIT,
        })
    }

    /// Kills its main process with SIGKILL, as an out-of-memory killer would.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn kill(&mut self) -> Result<(), Error> {
        self.signal(Signal::KILL)
    }

    /// Stops it fast and starts it again, on the same port.
    ///
    /// # Errors
    /// Those of [`stop`](Self::stop) and [`start`](Self::start).
    pub fn restart(&mut self) -> Result<(), Error> {
        self.stop(Shutdown::Fast)?;
        self.start()
    }

    /// Lets server and directory outlive this process; returns the process id to stop it by.
    pub fn keep(mut self) -> Option<u32> {
        if let Some(home) = self.home.take() {
            let _ = home.keep();
        }
        match std::mem::replace(&mut self.state, State::Stopped) {
            State::Running { server, watchdog } => {
                drop(watchdog);
                Some(server.id())
            }
            State::Stopped => None,
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn append(&self, file: &str, line: &str) -> Result<(), Error> {
        use std::io::Write;
        let path = self.data().join(file);
        let mut open = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(Error::io("could not open", &path))?;
        writeln!(open, "{line}").map_err(Error::io("could not write", path))
    }

    fn spawn(&self) -> Result<Child, Error> {
        let path = self.log();
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(Error::io("could not open", &path))?;
        let second = log.try_clone().map_err(Error::io("could not open", path))?;
        let program = self.installation.bin().join("postgres");
        let mut command = Command::new(&program);
        command
            .arg("-D")
            .arg(self.data())
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(second)
            .env_remove("PGDATA")
            // Ctrl-C must not reach it before its owner decides how to stop it.
            .process_group(0);
        self.account.apply(&mut command);
        command.spawn().map_err(Error::io("could not run", program))
    }

    /// The eighth line of `postmaster.pid` says `ready`; `pg_ctl --wait` looks at nothing else.
    fn await_ready(&self, server: &mut Child, deadline: Instant) -> Result<(), Error> {
        let path = self.data().join("postmaster.pid");
        let id = server.id().to_string();
        loop {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let mut lines = text.lines();
            if lines.next() == Some(id.as_str())
                && lines.nth(6).is_some_and(|status| status.trim() == "ready")
            {
                return Ok(());
            }
            let ended = server.try_wait().is_ok_and(|status| status.is_some());
            if ended || Instant::now() > deadline {
                return Err(Error::NotReady {
                    log: last_lines(&self.log()),
                });
            }
            std::thread::sleep(POLL);
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Error> {
        let State::Running {
            mut server,
            watchdog,
        } = std::mem::replace(&mut self.state, State::Stopped)
        else {
            return Ok(());
        };
        let id = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            let _ = kill_process(id, signal);
        }
        let deadline = Instant::now() + STOP_DEADLINE;
        while server.try_wait().is_ok_and(|status| status.is_none()) {
            if Instant::now() > deadline {
                self.state = State::Running { server, watchdog };
                return Err(Error::Timeout {
                    what: "the server to stop".to_owned(),
                    seconds: STOP_DEADLINE.as_secs_f64(),
                });
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn keep_log(&self) -> Option<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/postgres-logs");
        fs::create_dir_all(&folder).ok()?;
        let kept = folder.join(format!("{}-{}.log", std::process::id(), self.port));
        fs::copy(self.log(), &kept).ok()?;
        Some(kept)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.stop(Shutdown::Immediate).is_err() {
            let _ = self.kill();
        }
        if std::thread::panicking()
            && let Some(kept) = self.keep_log()
        {
            // Drop has no other way to say it, and a failing test prints anyway.
            #[allow(clippy::print_stderr)]
            {
                eprintln!("server log kept: {}", kept.display());
            }
        }
    }
}

fn initialise(installation: &Installation, account: Account, home: &Path) -> Result<(), Error> {
    let program = installation.bin().join("initdb");
    let mut command = Command::new(&program);
    command
        .arg("--pgdata")
        .arg(home.join("data"))
        .args(["--username", "postgres", "--auth", "trust"])
        .args(["--encoding", "UTF8", "--locale", "C", "--no-sync"])
        .current_dir(home)
        .stdin(Stdio::null());
    account.apply(&mut command);
    let output = command
        .output()
        .map_err(Error::io("could not run", &program))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Program {
        program: program.display().to_string(),
        output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

fn free_port() -> Result<u16, Error> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(Error::io("no free port on", "127.0.0.1"))
}

fn last_lines(log: &Path) -> String {
    use std::io::Read;
    let mut text = String::new();
    let _ = File::open(log).and_then(|mut file| file.read_to_string(&mut text));
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(8);
    lines.get(start..).unwrap_or_default().join("\n")
}
