//! The checkpoint on a real PostgreSQL: every promise of `store`, one server for all tests, one schema per test.

// Fixtures state their expectations like the tests they serve.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bind;
mod delivery;
mod fixture;
mod lease;
mod lost_commit;
mod migrate;
mod operator;
mod origin;
mod server;
