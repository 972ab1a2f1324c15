//! What was promised, and how far it was kept.
//!
//! A position means nothing without the contract under which it was reached, so both live in one crate:
//!
//! - [`contract`] is the vocabulary of declarations, the rules that make one legal, its canonical bytes and the
//!   classified difference between two. It does no I/O, knows no tokens and has no dependencies, because the
//!   declaration macros compile against exactly it.
//! - `store` (feature `store`) reads and writes the three rows that a checkpoint is made of: the watermark, the
//!   contract and the lease.
//!
//! Reading order: [`contract::resource`], [`contract::rules`], [`contract::manifest`], [`contract::drift`], then
//! `store`.

pub mod contract;

#[cfg(feature = "store")]
pub mod error;
#[cfg(feature = "store")]
pub mod reason;
#[cfg(feature = "store")]
pub mod store;

#[cfg(feature = "store")]
pub use error::Error;
#[cfg(feature = "store")]
pub use reason::Reason;
