//! The declaration is the contract: one vocabulary for the macros, for admission and for the stored manifest.
//!
//! Everything here is plain data that a constant can hold (`&'static`), so that `#[replicant(...)]` emits a
//! specification the compiler can check. Nothing here knows a token, a span, a socket or a clock.
//!
//! Adding an option means: a field in [`resource`] or [`sink`], a rule in [`rules`], bytes in `encode`, a class in
//! `drift` (both destructure exhaustively, so forgetting one does not compile), a key in the macros, two compile
//! tests.

pub mod drift;
pub mod encode;
pub mod manifest;
pub mod resource;
pub mod sink;
