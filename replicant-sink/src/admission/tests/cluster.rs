//! A private PostgreSQL for these tests: started by the first test that asks, stopped when the last one is done.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio_postgres::{Client, NoTls};

/// Where Debian puts the programs; `REPLICANT_TEST_PG_BIN` says otherwise.
const BIN: &str = "/usr/lib/postgresql/15/bin";

static RUNNING: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// A running server, reachable through a Unix socket only.
pub(super) struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    /// The running server, or a new one.
    pub(super) fn shared() -> Arc<Self> {
        let mut running = RUNNING
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(cluster) = running.upgrade() {
            return cluster;
        }
        let cluster = Arc::new(Self::start());
        *running = Arc::downgrade(&cluster);
        cluster
    }

    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(path));
        }
        let data = path.join("data");
        run(program("initdb")
            .args([
                "--auth=trust",
                "--username=postgres",
                "--no-sync",
                "--locale=C.UTF-8",
            ])
            .arg(format!("--pgdata={}", data.display())));
        let options = format!(
            "-c listen_addresses='' -c unix_socket_directories={} -c fsync=off -c wal_level=logical",
            path.display()
        );
        run(program("pg_ctl")
            .args(["start", "--wait", "--silent", "--options", &options])
            .arg(format!("--log={}", path.join("log").display()))
            .arg(format!("--pgdata={}", data.display())));
        Self { folder }
    }

    /// A client of an empty database of its own, `search_path` empty.
    pub(super) async fn database(&self) -> Client {
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let admin = self.connect("postgres", "postgres").await;
        let name = format!("d{number}");
        admin
            .batch_execute(&format!("create database {name}"))
            .await
            .unwrap();
        self.connect(&name, "postgres").await
    }

    /// Empties the schemas that setups use; much cheaper than another database.
    pub(super) async fn reset(client: &Client) {
        client
            .batch_execute(
                "drop schema if exists public, mirror, other cascade; create schema public;",
            )
            .await
            .unwrap();
    }

    /// A client of that database as that role.
    pub(super) async fn connect(&self, database: &str, role: &str) -> Client {
        let host = self.folder.path().display();
        let (client, connection) =
            tokio_postgres::connect(&format!("host={host} user={role} dbname={database}"), NoTls)
                .await
                .unwrap();
        tokio::spawn(connection);
        client.batch_execute("set search_path = ''").await.unwrap();
        client
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        run(program("pg_ctl")
            .args(["stop", "--mode=immediate", "--silent"])
            .arg(format!("--pgdata={}", data.display())));
    }
}

/// PostgreSQL refuses to run as root.
fn program(name: &str) -> Command {
    let bin = std::env::var("REPLICANT_TEST_PG_BIN").unwrap_or_else(|_| BIN.to_owned());
    let path = Path::new(&bin).join(name);
    if !is_root() {
        return Command::new(path);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--init-groups"])
        .arg(path);
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

fn run(command: &mut Command) {
    // The server inherits its starter's output; a pipe would never close.
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/tmp")
        .status()
        .unwrap();
    assert!(status.success(), "{command:?}");
}
