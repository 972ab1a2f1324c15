//! Diagnosis: what a start would check, what the checkpoint remembers, what a running pipeline does. All of it is
//! data that commands only render, and none of it can write: both sessions are read-only.
//!
//! [`preflight`] asks whether a pipeline may start; [`doctor`] asks that and whether everything is in order;
//! [`status`] says what is going on, and unlike the other two prints identities and positions.
//!
//! Reading order: [`Report`], `sides`, `preflight`, `diagnosis`, then one file per question: `slot`, `checkpoint`,
//! `contract`, `owner`; `status` last.

mod checkpoint;
mod contract;
mod diagnosis;
mod finding;
mod owner;
mod preflight;
mod report;
pub(crate) mod sides;
mod slot;
mod status;
mod vault;

pub use diagnosis::doctor;
pub(crate) use diagnosis::tables;
pub use finding::Finding;
pub use preflight::{Identified, identify, preflight};
pub use report::{Check, Report, Verdict};
pub use status::{HeldLease, LastHalt, SlotNow, State, Status, status};
