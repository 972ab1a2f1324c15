//! One private, throw-away server for this test binary.
//!
//! It listens on a Unix socket in its own folder only. A shell keeps it: when this process ends, however it ends, the
//! shell's standard input closes and the shell stops the server and removes the folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const BIN: &str = "/usr/lib/postgresql/15/bin";

const SCRIPT: &str = r#"
set -e
initdb -D "$1/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$1/initdb.log" 2>&1
postgres -D "$1/data" -k "$1" -c listen_addresses= -c wal_level=logical -c fsync=off \
    -c max_connections=200 -c autovacuum=off -c log_min_messages=info >"$1/postgres.log" 2>&1 &
server=$!
read -r _ || true
kill -INT "$server"
wait "$server" || true
rm -rf "$1"
"#;

/// The folder that holds the server's socket.
pub(crate) fn socket() -> &'static Path {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    SERVER.get_or_init(start)
}

fn start() -> PathBuf {
    let root = PathBuf::from(format!("/tmp/replicant-store-{}", std::process::id()));
    std::fs::create_dir(&root).expect("a folder of our own");
    let is_root = std::fs::metadata("/root").is_ok_and(|_| std::fs::read_dir("/root").is_ok());
    let mut command = if is_root {
        let owned = Command::new("chown").arg("postgres").arg(&root).status();
        assert!(owned.expect("chown runs").success());
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", "sh"]);
        command
    } else {
        Command::new("sh")
    };
    let path = format!("{BIN}:{}", std::env::var("PATH").unwrap_or_default());
    let keeper = command
        .args(["-c", SCRIPT, "keeper"])
        .arg(&root)
        .env("PATH", path)
        .current_dir(&root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    // The keeper's standard input must stay open until this process ends.
    std::mem::forget(keeper);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !accepts_sessions(&root) {
        assert!(
            Instant::now() < deadline,
            "the server did not start, see {root:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    root
}

/// A socket exists before sessions are accepted, so the server is asked.
fn accepts_sessions(root: &Path) -> bool {
    Command::new(format!("{BIN}/pg_isready"))
        .arg("-q")
        .arg("-h")
        .arg(root)
        .status()
        .is_ok_and(|status| status.success())
}
