//! What the end-to-end tests share: a world of two databases, specifications made from a catalog, and comparison.
//!
//! Reading order: [`world`] (source, destination, pipeline, waiting), [`specification`] (a `SinkSpec` for tables that
//! exist), [`compare`] (is the mirror the source?), [`values`] (types and the values that are hard to carry), [`child`]
//! (a mirror as a process that can be killed), [`ledger`] (what did a server really commit?), [`run`]
//! (was every transaction effective exactly once?), [`kept`] (histories and logs), [`journal`] (what must they hold?),
//! [`scenario`] (do these transactions leave the mirror equal?), [`sealing`] (what is inside of a sealed column?),
//! [`tenancy`] (whose rows are they?), [`shrink`] (what of a failing list still fails?), [`setups`] (is a setup that
//! cannot work refused?), [`hooked`] (declarations with hooks), [`refusal`] (what holds after a refusal?), [`rewind`] (what
//! if everything comes again?), [`listen`] (what does the process say?), [`canary`] (is a value in it?).

pub mod canary;
pub mod child;
pub mod compare;
pub mod hooked;
pub mod journal;
pub mod kept;
pub mod ledger;
pub mod listen;
pub mod refusal;
pub mod rewind;
pub mod run;
pub mod scenario;
pub mod sealing;
pub mod setups;
pub mod shrink;
pub mod specification;
pub mod tenancy;
pub mod values;
pub mod world;

pub use world::World;
