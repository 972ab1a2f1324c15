//! The only sockets: how a server is found, trusted, spoken to and read.
//!
//! ```text
//!   conninfo ── keyword, service, passfile ──> ConnectOptions
//!                                                   │ handshake: socket, tls, auth
//!                                                   v
//!                            Replication ──> CopyBoth          SqlSession
//! ```
//!
//! One handshake serves both kinds of session, so that both follow the same rules: plaintext only where `sslmode`
//! allows it, no cleartext password without TLS, channel binding, the same pinned settings. Errors keep a SQLSTATE
//! and nothing else of what a server said.

mod auth;
mod binding;
mod claims;
mod conninfo;
mod copy;
mod environment;
mod fault;
mod frame;
mod handshake;
mod host;
mod interpret;
mod keyword;
mod options;
mod passfile;
mod policy;
mod presets;
mod replication;
mod rows;
mod service;
mod session;
mod socket;
mod sql;
mod tls;

pub use claims::Claims;
pub use copy::{CopyBoth, CopyReader, CopyWriter};
pub use environment::{Environment, FileAccess, FileLookup, ProcessEnvironment};
pub use fault::{QueryError, ServerFault, classify};
pub use options::ConnectOptions;
pub use replication::Replication;
pub use rows::{Row, RowSet};
pub use secrecy::SecretString;
pub use sql::{SqlSession, sql, sql_observed};
