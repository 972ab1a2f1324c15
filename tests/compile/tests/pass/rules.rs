//! The legal neighbour of each case in `mistakes/rules`, by what the declaration says.
#![allow(dead_code)]

#[path = "rules/actions.rs"]
mod actions;
#[path = "rules/columns.rs"]
mod columns;
#[path = "rules/histories.rs"]
mod histories;
#[path = "rules/hooks.rs"]
mod hooks;
#[path = "rules/identities.rs"]
mod identities;
#[path = "rules/logs.rs"]
mod logs;
#[path = "rules/messages.rs"]
mod messages;
#[path = "rules/provenance.rs"]
mod provenance;
#[path = "rules/sealing.rs"]
mod sealing;
#[path = "rules/shapes.rs"]
mod shapes;
#[path = "rules/sinks.rs"]
mod sinks;
#[path = "rules/tenants.rs"]
mod tenants;
