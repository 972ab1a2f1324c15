//! The `replicant` binary.
fn main() {}
