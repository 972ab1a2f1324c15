//! A web shop and its mirror: the example that the demo, the benchmark, the guide and the tests share.
//!
//! - [`schema`]: the tables of both databases, and how they are created.
//! - [`traffic`]: what the shop's application does all day, from a seed.
//! - [`verify`]: does the mirror hold exactly what the shop holds?

pub mod schema;
pub mod traffic;
pub mod verify;
