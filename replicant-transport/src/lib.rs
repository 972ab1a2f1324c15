//! Effect-once change data capture from PostgreSQL.
//!
//! This crate opens one replication session, decodes it, assembles whole source transactions, hands them to a
//! [`Sink`] and acknowledges to the server exactly what that sink made durable. It knows nothing of tenants,
//! mirrors or encryption: that is the sink's business.
//!
//! ```text
//!   socket ── connect ── wire ── assemble ──────── Sink::begin / changes / commit
//!     ^         (TLS,     (bytes    (messages                      │
//!     │          SCRAM)    to        to transactions,              │ destination commit
//!     │                    messages) ordinals, Receipt)            v
//!     └────────── feedback ◄──────── Durable ◄──────── Receipt::settle(proof)
//! ```
//!
//! Reading order: [`position`] (three positions, three types), [`ident`], [`cell`], [`relation`], [`change`],
//! [`sink`] (the contract with the layer above), [`ack`] (what may be acknowledged), [`source`] (facts of one
//! session), then `wire`, `assemble`, `connect`, `session` and [`pipeline`], which wires them together.
//!
//! Without default features only [`position`] and [`ident`] exist and the crate has no dependencies.

pub mod ident;
pub mod position;

#[cfg(feature = "client")]
pub mod ack;
#[cfg(feature = "client")]
pub mod assemble;
#[cfg(feature = "client")]
pub mod cell;
#[cfg(feature = "client")]
pub mod change;
#[cfg(feature = "client")]
pub mod connect;
#[cfg(feature = "client")]
pub mod error;
#[cfg(feature = "client")]
pub mod pg_type;
#[cfg(feature = "client")]
pub mod pipeline;
#[cfg(feature = "client")]
pub mod reason;
#[cfg(feature = "client")]
pub mod relation;
#[cfg(feature = "client")]
mod session;
#[cfg(feature = "client")]
pub mod sink;
#[cfg(feature = "client")]
pub mod source;
#[cfg(feature = "client")]
pub mod telemetry;
#[cfg(feature = "client")]
pub mod wire;

#[cfg(feature = "client")]
pub use sink::Sink;
