//! Where do test servers come from, and how does a test break them?
//!
//! ```text
//! Installation ──► ClusterBuilder ──► Cluster ──► conninfo, connect, create_database
//!  (binaries)        (settings)       │   └─ stop, kill, start, restart, standby
//!                                     ├─ Proxy: cut, stall, delay, limit the network in front of it
//!                                     └─ Pooler: share its sessions, and lose what they begin with
//! ```
//!
//! Every cluster is private: a temporary directory, a free port on 127.0.0.1, an unprivileged operating-system
//! account when the tests run as root. It ends with its owner: on drop, also when a test panics, and when the
//! whole test process is killed (see [`cluster`]).
//!
//! Reading order: [`installation`], [`cluster`], [`connect`], [`mod@wait_for`], [`proxy`], [`pooler`].

mod account;
pub mod cluster;
pub mod connect;
pub mod error;
pub mod installation;
mod npm;
pub mod pooler;
pub mod proxy;
pub mod wait_for;
mod watchdog;

pub use cluster::{Cluster, ClusterBuilder, Durability, Shutdown};
pub use error::Error;
pub use installation::Installation;
pub use pooler::{Parameters, Pooler};
pub use proxy::{Direction, Door, Flow, Proxy};
pub use wait_for::{wait_for, wait_for_true};
