//! Mirror chosen PostgreSQL tables into another PostgreSQL, every source transaction taking effect exactly once.
//!
//! Applications depend on this crate. A target is a Rust struct with `#[replicant(...)]`; a sink lists targets; a
//! `Pipeline` says where source and destination are and starts.
//!
//! ```text
//!  transport ──► admission ──► generation        (once per connect: everything is checked before the first row)
//!      │                            │
//!      └─ begin/changes/commit ──► delivery: resolve ► effects ► fold ► lower ► one destination transaction
//!                                                                               │ rows + watermark, one COMMIT
//!      ◄──────────────────────────── Receipt::settle(Committed) ◄───────────────┘
//! ```
//!
//! Reading order: [`resource`] (what a declaration compiles to), [`generation`] (what admission proved), [`reason`]
//! and [`error`], then `admission`, `delivery` and `pipeline`.

pub mod apply;
pub mod error;
pub mod generation;
pub mod plan;
pub mod reason;
pub mod resource;

pub use error::Error;
pub use reason::Reason;
/// The vocabulary of declarations.
pub use replicant_checkpoint::contract;

#[cfg(test)]
mod fixture;
