//! The declaration is the contract: one vocabulary for the macros, for admission and for the stored manifest.
//!
//! Everything here is plain data that a constant can hold (`&'static`), so that `#[replicant(...)]` emits a
//! specification the compiler can check. Nothing here knows a token, a span, a socket or a clock.
//!
//! Adding an option means: a key in [`keys`], a field in [`resource`] (or the part it belongs to) or [`sink`], a
//! rule in [`rules`], bytes in [`encode`], a class in [`drift`] (both destructure exhaustively, so forgetting one
//! does not compile), and two compile tests.
//!
//! Reading order: [`keys`]; [`resource`] and its parts [`mod@column`], [`role`], [`identity`], [`action`], [`tenancy`],
//! [`history`], [`append`], [`provenance`], [`period`]; [`sink`]; [`declared`]; [`rules`], [`relations`];
//! [`manifest`], [`encode`], [`drift`].

pub mod action;
pub mod append;
pub mod column;
mod constant;
pub mod declared;
pub mod drift;
pub mod encode;
pub mod history;
pub mod identity;
pub mod keys;
pub mod manifest;
pub mod message;
pub mod nearest;
pub mod period;
pub mod provenance;
mod refusal;
pub mod relations;
pub mod resource;
pub mod role;
pub mod rules;
pub mod sink;
pub mod tenancy;

#[cfg(test)]
mod tests;
