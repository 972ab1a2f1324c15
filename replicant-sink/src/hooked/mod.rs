//! Where hooks meet delivery: what a change calls, how it is called, and what its calls may do.
//!
//! ```text
//!  piece ──► stage: pure hooks, in place, once ──► barriers: everything before is written, a database hook runs
//!                                                     │         (session: its declared actions, nothing else)
//!                                                     └──► plan and apply, which know of no hook
//! ```
//!
//! A table whose actions call nothing costs one look per run of its changes; a sink without hooks not even that.
//!
//! Reading order: [`calls`] (which hooks a change calls, on which image), [`row`] and [`given`] (what a hook sees of a
//! row and may set of it), [`guard`] (how a hook is called), [`stage`], [`barrier`], [`session`] (what it may do),
//! [`operation`] (under which key).

pub(crate) mod barrier;
pub(crate) mod calls;
mod given;
mod guard;
pub(crate) mod operation;
mod row;
mod session;
pub(crate) mod stage;
#[cfg(test)]
mod tests;

pub(crate) use calls::{Auxiliary, Hooks, TableHooks};
pub(crate) use stage::Stage;
