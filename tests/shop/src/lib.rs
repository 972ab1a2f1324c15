//! A web shop and its mirror: the example that the demo, the benchmark, the guide and the tests share.
//!
//! - [`schema`]: the tables of both databases, and how they are created.
//! - [`mirror`]: what of it is mirrored, declared with the macros.
//! - [`traffic`]: what the shop's application does all day, from a seed.
//! - [`verify`]: does the mirror hold exactly what the shop holds?

pub mod mirror;
pub mod schema;
pub mod traffic;
pub mod verify;

use replicant_sink::pipeline::Pipeline;

/// The shop's pipeline, named `shop`; where its two ends are comes from configuration.
pub fn pipeline() -> Pipeline {
    Pipeline::of::<mirror::ShopSink>()
        .named("shop")
        .publication(schema::PUBLICATION)
        .go_forward()
}
