//! Declarations that compile: the legal neighbour of each mistake, and what else must not get in the way.
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "the declarations are the test"
)]

#[path = "pass/defaults.rs"]
mod defaults;
#[path = "pass/derives.rs"]
mod derives;
#[path = "pass/hygiene.rs"]
mod hygiene;
#[path = "pass/in_a_macro.rs"]
mod in_a_macro;
#[path = "pass/mirror.rs"]
mod mirror;
#[path = "pass/names.rs"]
mod names;
#[path = "pass/relations.rs"]
mod relations;
#[path = "pass/rules.rs"]
mod rules;
#[path = "pass/syntax.rs"]
mod syntax;
#[path = "pass/types.rs"]
mod types;
