//! What can go wrong while providing a test server, in words a developer can act on.

use std::path::PathBuf;

/// A test server could not be provided or asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No PostgreSQL on this machine.
    #[error(
        "no PostgreSQL server found; install one (Debian: `apt-get install postgresql`) or set \
         REPLICANT_PG_BIN to the directory that holds `postgres` and `initdb`"
    )]
    NotFound,
    /// A version that no package exists for.
    #[error("no PostgreSQL {major} for this machine: {why}")]
    VersionUnavailable {
        /// The major version asked for.
        major: u32,
        /// What the package manager said.
        why: String,
    },
    /// A program of the installation failed.
    #[error("`{program}` failed: {output}")]
    Program {
        /// The program.
        program: String,
        /// The last lines it printed.
        output: String,
    },
    /// The server did not become ready, or ended at once.
    #[error("PostgreSQL did not start: {log}")]
    NotReady {
        /// The last lines of its log.
        log: String,
    },
    /// Something awaited did not happen.
    #[error("waited {seconds:.1} s in vain for {what}")]
    Timeout {
        /// What was awaited.
        what: String,
        /// For how long.
        seconds: f64,
    },
    /// The operating system refused.
    #[error("{what} ({path}): {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The refusal.
        source: std::io::Error,
    },
    /// The server refused a statement or a login.
    #[error("the test server refused: {}", describe(.0))]
    Sql(#[from] tokio_postgres::Error),
}

/// Test servers hold invented rows only, so here the server's own message may be shown.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => error.to_string(),
    }
}

impl Error {
    pub(crate) fn io(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}
