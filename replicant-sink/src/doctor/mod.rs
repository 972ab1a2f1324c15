//! Diagnosis: what a start would check, without starting; commands only render it.

mod preflight;
mod report;

pub use preflight::{Identified, identify, preflight};
pub use report::{Check, Report, Verdict};
