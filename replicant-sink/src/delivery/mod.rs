//! One group of source transactions, one destination transaction.

pub mod failpoint;
pub mod queue;
