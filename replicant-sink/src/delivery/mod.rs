//! One group of source transactions, one destination transaction.
//!
//! ```text
//! transport ─► sink ─► queue ─► task ─► store::begin ─► apply ─► store::commit ─► Receipt::settle ─► feedback
//!            (admits,  (bounded) (owns the connection, retries, asks after lost answers)
//!             judges
//!             shapes)
//! ```
//!
//! Reading order: [`sink`], [`queue`], [`task`], [`failure`], [`relation`], [`destination`], [`progress`],
//! [`heartbeat`], [`failpoint`].

pub(crate) mod destination;
pub mod failpoint;
mod failure;
pub(crate) mod heartbeat;
pub(crate) mod ownership;
pub mod progress;
pub mod queue;
mod relation;
pub(crate) mod run;
pub(crate) mod sink;
mod task;
