//! What must exist in the destination for a declaration to be admitted, and which statements make it so?
//!
//! Pure functions from a declaration to statements; nothing here talks to a server. Admission shows these statements
//! when something is missing, `replicant migrations` writes them into files, so both always say the same.
//!
//! ```text
//!  SinkSpec ──► wanted ──► Declared ──┐
//!               what an earlier run ──┴──► changes ──► Vec<Change>: statements up and down
//!               recorded: Declared
//! ```
//!
//! Foreign keys are not among them: a declaration has none, so a host writes its own, DEFERRABLE and NO ACTION.
//!
//! Reading order: [`model`], `place`, [`wanted()`], [`changes()`], then `table`, `unique`, `names`, `statement`,
//! `sql_type`.

pub mod changes;
pub mod model;
mod names;
pub(crate) mod place;
pub(crate) mod sql_type;
pub(crate) mod statement;
mod stored_names;
pub(crate) mod table;
mod unique;
pub mod wanted;

pub use changes::{Change, Drops, Risk, changes, leave_claims};
pub use model::{
    CheckpointWanted, Claims, Column, Declared, Filled, MadeBy, Nulls, Table, UniqueIndex,
};
pub use place::{Home, Place};
pub use wanted::wanted;
