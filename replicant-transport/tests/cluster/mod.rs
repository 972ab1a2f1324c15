//! A throw-away PostgreSQL for these tests: private directory, free port, certificates of its own.
//!
//! The server is a child of a small shell that waits on a pipe from the test process. However that process ends, the
//! pipe closes, the shell stops the server by its process id and removes the directory.

#![allow(dead_code, reason = "no test uses all of it")]

pub(crate) mod outcome;

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use replicant_transport::connect::{ConnectOptions, Environment, FileLookup, ProcessEnvironment};

/// The password of every role: what breaks naive URIs.
pub(crate) const PASSWORD: &str = "p w@%2F:";
/// The same in a URI.
pub(crate) const PASSWORD_IN_URI: &str = "p%20w%40%252F%3A";

/// How the server's certificate is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tls {
    Off,
    /// An RSA key, signed by an ECDSA authority with SHA-384: the hash is that of the signature, not of the key.
    SignedWithEcdsaSha384,
    /// Signed with RSASSA-PSS and SHA-512, by itself.
    SelfSignedWithPssSha512,
}

pub(crate) struct Cluster {
    pub(crate) port: u16,
    pub(crate) dir: PathBuf,
    _shell: Child,
}

const HBA: &str = "\
local     all all               trust
host      all trusted 0.0.0.0/0 trust
host      all md5     0.0.0.0/0 md5
host      all clear   0.0.0.0/0 password
hostssl   all certified 0.0.0.0/0 cert
hostssl   all tlsonly 0.0.0.0/0 scram-sha-256
hostnossl all plainonly 0.0.0.0/0 scram-sha-256
host      all scram   0.0.0.0/0 scram-sha-256
host      all nologin 0.0.0.0/0 trust
host      all crowded 0.0.0.0/0 trust
host      all norepl  0.0.0.0/0 trust
host      all hostile 0.0.0.0/0 trust
host      all readonly 0.0.0.0/0 trust
";

const ROLES: &str = "
set password_encryption = 'scram-sha-256';
create role trusted superuser login replication;
create role certified login replication;
create role crowded login replication connection limit 0;
create role nologin nologin;
create role norepl login;
create role readonly login replication;
alter role readonly set default_transaction_read_only = on;
create role scram login replication password 'p w@%2F:';
create role tlsonly login replication password 'p w@%2F:';
create role plainonly login replication password 'p w@%2F:';
set password_encryption = md5;
create role md5 login replication password 'p w@%2F:';
create role clear login replication password 'p w@%2F:';
create role hostile superuser login replication;
alter role hostile set datestyle = 'german, dmy';
alter role hostile set intervalstyle = 'iso_8601';
alter role hostile set timezone = 'Asia/Kolkata';
alter role hostile set extra_float_digits = -5;
alter role hostile set bytea_output = 'escape';
alter role hostile set xmlbinary = 'hex';
alter role hostile set array_nulls = off;
alter role hostile set xmloption = 'document';
alter role hostile set standard_conforming_strings = off;
alter role hostile set transform_null_equals = on;
alter role hostile set search_path = 'public';
alter role hostile set statement_timeout = '1h';
alter role hostile set lock_timeout = '1h';
alter role hostile set idle_in_transaction_session_timeout = '1h';
\\set ON_ERROR_STOP 0
alter role hostile set idle_session_timeout = '1h';
\\set ON_ERROR_STOP 1
alter role hostile set synchronous_commit = off;
create database shop;
";

impl Cluster {
    pub(crate) fn start(tls: Tls) -> Self {
        let dir = tempfile::tempdir().unwrap().keep();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        make_certificates(&dir, tls);
        give_to_server_user(&dir);
        let data = dir.join("data");
        let initdb = bin("initdb");
        run(as_server_user(&initdb)
            .args([
                "-A",
                "trust",
                "-U",
                "postgres",
                "-N",
                "-E",
                "UTF8",
                "--locale=C",
                "-D",
            ])
            .arg(&data));
        std::fs::write(
            data.join("pg_hba.conf"),
            HBA.replace(
                "hostssl",
                if tls == Tls::Off {
                    "#hostssl"
                } else {
                    "hostssl"
                },
            ),
        )
        .unwrap();
        let mut conf = format!(
            "port={port}\nlisten_addresses='127.0.0.1,127.0.0.2'\nunix_socket_directories='{}'\nfsync=off\nwal_level=logical\nmax_connections=40\nlog_min_messages=fatal\n",
            dir.display()
        );
        if tls != Tls::Off {
            let at = |name: &str| dir.join(name).display().to_string();
            conf += &format!(
                "ssl=on\nssl_cert_file='{}'\nssl_key_file='{}'\nssl_ca_file='{}'\n",
                at("server.crt"),
                at("server.key"),
                at("ca.crt")
            );
        }
        std::fs::write(data.join("postgresql.conf"), conf).unwrap();
        // The server is started by its user, stopped by its id, and its directory removed by us.
        let script = r#""$@" & pid=$!; cat > /dev/null; kill -QUIT $pid; wait $pid; rm -rf "$0""#;
        let server = as_server_user(&bin("postgres"));
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(script)
            .arg(&dir)
            .arg(server.get_program())
            .args(server.get_args())
            .arg("-D")
            .arg(&data);
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let shell = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let cluster = Self {
            port,
            dir,
            _shell: shell,
        };
        cluster.wait_until_ready();
        cluster.psql(ROLES);
        cluster
    }

    fn wait_until_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let socket = self.dir.display().to_string();
        loop {
            let ready = Command::new(bin("pg_isready"))
                .args(["-q", "-h", &socket, "-p", &self.port.to_string()])
                .status()
                .unwrap();
            if ready.success() {
                return;
            }
            let log = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the server did not start: {log}");
            std::thread::yield_now();
        }
    }

    /// Runs statements as the superuser.
    pub(crate) fn psql(&self, sql: &str) {
        let mut psql = Command::new(bin("psql"));
        let socket = self.dir.display().to_string();
        psql.args([
            "-qXv",
            "ON_ERROR_STOP=1",
            "-U",
            "postgres",
            "-h",
            &socket,
            "-p",
            &self.port.to_string(),
            "postgres",
        ]);
        let mut child = psql
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), sql.as_bytes()).unwrap();
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }

    /// A file of the cluster's directory.
    pub(crate) fn file(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }
}

/// The server with TLS that the tests of one process share.
pub(crate) fn secure() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(Tls::SignedWithEcdsaSha384))
}

/// The server without TLS that the tests of one process share.
pub(crate) fn plain() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(Tls::Off))
}

/// Parses without any surroundings.
pub(crate) fn options(conninfo: &str) -> ConnectOptions {
    ConnectOptions::parse(conninfo, &Vars::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A connection string for a role, over TCP to `localhost`'s address unless `more` says otherwise.
pub(crate) fn conninfo(cluster: &Cluster, user: &str, more: &str) -> String {
    format!(
        "host=localhost hostaddr=127.0.0.1 port={} user={user} dbname=shop password='{PASSWORD}' connect_timeout=10 {more}",
        cluster.port
    )
}

/// An authority, a server certificate for `localhost` and 127.0.0.1, a client certificate for the role `certified`,
/// and another authority with a client certificate of the same name that nobody trusts.
fn make_certificates(dir: &Path, tls: Tls) {
    let openssl = |args: &str| {
        let mut command = Command::new("openssl");
        run(command.current_dir(dir).args(args.split(' ')));
    };
    if tls == Tls::Off {
        return;
    }
    for ca in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -sha256 -nodes -days 2 -subj /CN={ca} -keyout {ca}.key -out {ca}.crt"
        ));
    }
    std::fs::write(
        dir.join("san"),
        "subjectAltName=DNS:localhost,IP:127.0.0.1\n",
    )
    .unwrap();
    let sign = "x509 -req -days 2 -sha384 -set_serial 7";
    if tls == Tls::SelfSignedWithPssSha512 {
        openssl(
            "req -x509 -newkey rsa:2048 -sha512 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:64 -nodes -days 2 -subj /CN=x -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt",
        );
    } else {
        openssl("req -newkey rsa:2048 -nodes -subj /CN=x -keyout server.key -out server.csr");
        openssl(&format!(
            "{sign} -in server.csr -CA ca.crt -CAkey ca.key -extfile san -out server.crt"
        ));
    }
    std::fs::write(dir.join("none"), "keyUsage=digitalSignature\n").unwrap();
    for (ca, client) in [("ca", "client"), ("other", "stranger")] {
        openssl(&format!(
            "req -newkey rsa:2048 -nodes -subj /CN=certified -keyout {client}.key -out {client}.csr"
        ));
        openssl(&format!(
            "{sign} -in {client}.csr -CA {ca}.crt -CAkey {ca}.key -extfile none -out {client}.crt"
        ));
        std::fs::set_permissions(
            dir.join(format!("{client}.key")),
            std::fs::Permissions::from_mode(0o600),
        )
        .unwrap();
    }
    std::fs::set_permissions(
        dir.join("server.key"),
        std::fs::Permissions::from_mode(0o600),
    )
    .unwrap();
}

fn give_to_server_user(dir: &Path) {
    if is_root() {
        run(Command::new("chown").args(["-R", "postgres"]).arg(dir));
    }
}

fn as_server_user(program: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("setpriv");
        command
            .args([
                "--reuid=postgres",
                "--regid=postgres",
                "--clear-groups",
                "--",
            ])
            .arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// A program of the PostgreSQL named by `REPLICANT_PG_BIN`, else of Debian's, else of the one in the path. A server
/// build without its clients borrows them.
fn bin(program: &str) -> PathBuf {
    let named = std::env::var_os("REPLICANT_PG_BIN").map(PathBuf::from);
    let directories = named
        .into_iter()
        .chain([PathBuf::from("/usr/lib/postgresql/15/bin")]);
    let mut programs = directories.map(|directory| directory.join(program));
    programs
        .find(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from(program))
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Variables of a test, files of this machine.
#[derive(Default, Clone)]
pub(crate) struct Vars(pub(crate) Vec<(&'static str, String)>);

impl Environment for Vars {
    fn variable(&self, name: &str) -> Option<String> {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.clone())
    }

    fn file(&self, path: &Path) -> FileLookup {
        ProcessEnvironment.file(path)
    }

    fn user_name(&self) -> Option<String> {
        Some("nobody".to_owned())
    }
}
