//! What the end-to-end tests share: a world of two databases, specifications made from a catalog, and comparison.
//!
//! Reading order: [`world`] (source, destination, pipeline, waiting), [`specification`] (a `SinkSpec` for tables that
//! exist), [`compare`] (is the mirror the source?), [`refusal`] (what holds after a
//! refusal?), [`listen`] (what does the process say?).

pub mod compare;
pub mod listen;
pub mod refusal;
pub mod specification;
pub mod world;

pub use world::World;
