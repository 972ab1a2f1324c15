//! The pipeline against a real server: order, acknowledgement, faults and stops.
//!
//! Each test starts a PostgreSQL of its own on a free port. The binaries are taken from `REPLICANT_TEST_PG_BIN`, by default
//! those of Debian's PostgreSQL 15; without them the tests fail rather than pass silently.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod acknowledgement;
mod faults;
mod ledger;
mod order;
mod proxy;
mod refusals;
mod runner;
mod schema;
mod server;
mod shutdown;
