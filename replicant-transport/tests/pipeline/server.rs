//! A PostgreSQL server of the test's own: a copy of one template cluster, on a free port, gone when dropped.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use replicant_transport::connect::{ConnectOptions, ProcessEnvironment};

pub(crate) struct Server {
    data: tempfile::TempDir,
    pub(crate) port: u16,
}

/// How to stop a server.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Fast,
    Immediate,
}

impl Server {
    /// Starts a server with these lines added to its configuration.
    pub(crate) fn start(settings: &str) -> Self {
        let data = tempfile::Builder::new()
            .prefix("replicant-pipeline-")
            .tempdir_in("/tmp")
            .unwrap();
        must(
            Command::new("cp")
                .arg("-a")
                .arg(template().join("data"))
                .arg(data.path()),
        );
        let port = free_port();
        let folder = data.path().join("data");
        let configuration = format!(
            "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n\
             fsync = off\nwal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\n\
             wal_sender_timeout = 60s\n{settings}\n"
        );
        fs::write(folder.join("postgresql.auto.conf"), configuration).unwrap();
        own(data.path());
        let server = Self { data, port };
        server.up();
        server
    }

    pub(crate) fn up(&self) {
        let log = self.folder().join("log");
        must(
            as_owner("pg_ctl")
                .args(["-w", "-t", "30", "start", "-D"])
                .arg(self.folder())
                .arg("-l")
                .arg(log),
        );
    }

    pub(crate) fn down(&self, mode: Mode) {
        must(&mut self.stopping(mode, 30));
    }

    /// Begins to stop and returns at once.
    pub(crate) fn begin_down(&self, mode: Mode) -> Child {
        self.stopping(mode, 60).spawn().unwrap()
    }

    /// Runs statements as the superuser, each in a transaction of its own unless they say otherwise, and returns their
    /// unaligned output.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let mut psql = self.psql("postgres");
        psql.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = psql.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(sql.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Statements through one session, from a script.
    pub(crate) fn psql(&self, database: &str) -> Command {
        let mut command = Command::new("psql");
        command
            .args([
                "-XAtq",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-U",
                "postgres",
            ])
            .args(["-p", &self.port.to_string(), "-d", database])
            .env_remove("PGOPTIONS")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn options(&self) -> ConnectOptions {
        self.options_through(self.port, "postgres")
    }

    pub(crate) fn options_through(&self, port: u16, user: &str) -> ConnectOptions {
        let text = format!(
            "host=127.0.0.1 port={port} user={user} dbname=postgres sslmode=disable connect_timeout=5"
        );
        ConnectOptions::parse(&text, &ProcessEnvironment).unwrap()
    }

    fn folder(&self) -> PathBuf {
        self.data.path().join("data")
    }

    fn stopping(&self, mode: Mode, seconds: u32) -> Command {
        let mode = match mode {
            Mode::Fast => "fast",
            Mode::Immediate => "immediate",
        };
        let mut command = as_owner("pg_ctl");
        command.args(["-w", "-t", &seconds.to_string(), "stop", "-m", mode, "-D"]);
        command.arg(self.folder()).stdout(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already stopped is fine.
        let _ = self
            .stopping(Mode::Immediate, 30)
            .stderr(Stdio::null())
            .status();
    }
}

/// One initialised cluster per process, copied for every test.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let major = Command::new(binaries().join("postgres"))
            .arg("--version")
            .output()
            .unwrap();
        let version = String::from_utf8_lossy(&major.stdout)
            .trim()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let final_place = PathBuf::from(format!("/tmp/replicant-template-{version}"));
        if final_place.join("data/PG_VERSION").exists() {
            return final_place;
        }
        let place = tempfile::Builder::new()
            .prefix("replicant-initdb-")
            .tempdir_in("/tmp")
            .unwrap()
            .keep();
        own(&place);
        must(
            as_owner("initdb")
                .args([
                    "-A",
                    "trust",
                    "-U",
                    "postgres",
                    "-E",
                    "UTF8",
                    "--no-locale",
                    "-N",
                    "-D",
                ])
                .arg(place.join("data")),
        );
        // Whoever is first provides it for all; a race only costs one folder.
        if fs::rename(&place, &final_place).is_err() {
            return place;
        }
        final_place
    })
}

fn binaries() -> PathBuf {
    std::env::var_os("REPLICANT_TEST_PG_BIN").map_or_else(
        || PathBuf::from("/usr/lib/postgresql/15/bin"),
        PathBuf::from,
    )
}

/// The server refuses to run as root, so it runs as `postgres` then.
fn as_owner(program: &str) -> Command {
    let program = binaries().join(program);
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid=postgres",
            "--regid=postgres",
            "--clear-groups",
            "--",
        ])
        .arg(program)
        .current_dir("/tmp");
    command
}

fn own(path: &Path) {
    if is_root() {
        must(
            Command::new("chown")
                .args(["-R", "postgres:postgres"])
                .arg(path),
        );
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

fn must(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
