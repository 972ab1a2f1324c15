//! Hostile bytes for every parser of the workspace: what must hold for any input, and a driver that looks for one
//! that breaks it.
//!
//! A [`Target`] is a plain function of bytes that panics when an invariant is broken. The same functions run in
//! three ways: briefly in the test suite, for as long as wanted by `cargo run -p replicant-fuzz -- --seconds 60`,
//! and coverage-guided by the cargo-fuzz wrappers in the repository's `fuzz` folder.

mod conninfo;
pub mod drive;
pub mod encode;
pub mod generate;
mod mutate;
pub mod sequence;
mod targets;

use proptest::strategy::BoxedStrategy;

/// One thing to fuzz.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line and its folder under `corpus`.
    pub name: &'static str,
    /// Panics when an invariant does not hold for this input.
    pub run: fn(&[u8]),
    /// Valid inputs to start from.
    pub valid: fn() -> BoxedStrategy<Vec<u8>>,
}

/// Every target. A parser added to the workspace gets its line here and its wrapper in `fuzz`.
pub const TARGETS: &[Target] = &[
    Target {
        name: "frame",
        run: targets::frame,
        valid: generate::frame_bytes,
    },
    Target {
        name: "message",
        run: targets::message,
        valid: generate::message_bytes,
    },
    Target {
        name: "assembler",
        run: targets::assembler,
        valid: generate::session_bytes,
    },
    Target {
        name: "relation_diff",
        run: targets::relation_diff,
        valid: generate::relation_pair_bytes,
    },
    Target {
        name: "conninfo",
        run: conninfo::conninfo,
        valid: conninfo::valid,
    },
];

/// The target with this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
