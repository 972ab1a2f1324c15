//! Workspace tools.
fn main() {}
