//! The legal neighbour of each case in `mistakes/relations`, by what the sink is judged for.
#![allow(dead_code)]

#[path = "relations/participants.rs"]
mod participants;
#[path = "relations/routes.rs"]
mod routes;
#[path = "relations/tables.rs"]
mod tables;
