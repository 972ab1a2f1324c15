//! Mirror chosen PostgreSQL tables into another PostgreSQL, every source transaction taking effect exactly once.
//!
//! Applications depend on this crate. A target is a Rust struct with `#[replicant(...)]`; a sink lists targets; a
//! `Pipeline` says where source and destination are and starts.
//!
//! ```text
//!  transport ──► admission ──► generation        (once per connect: everything is checked before the first row)
//!      │                            │
//!      └─ begin/changes/commit ──► delivery: resolve ► effects ► fold ► lower ► one destination transaction
//!                                                                               │ rows + watermark, one COMMIT
//!      ◄──────────────────────────── Receipt::settle(Committed) ◄───────────────┘
//! ```
//!
//! Reading order: [`resource`] (what a declaration compiles to), [`generation`] (what admission proved), [`reason`]
//! and [`error`], then `admission`, `delivery` and `pipeline`.

pub mod admission;
pub mod apply;
pub mod changeset;
pub mod columns;
pub mod config;
pub mod ddl;
pub mod decision;
pub mod delivery;
pub mod doctor;
pub mod effects;
pub mod error;
pub mod generation;
mod hooked;
pub mod hooks;
pub mod options;
pub mod pipeline;
pub mod plan;
pub mod promises;
pub mod reason;
mod refusal;
pub mod resource;
pub mod scope;
pub mod seal;
pub mod sealed;
pub mod telemetry;
pub mod tenant;
pub mod text_form;

pub use error::Error;
pub use reason::Reason;
/// The vocabulary of declarations.
pub use replicant_checkpoint::contract;
pub use replicant_resource_macros::{
    replicant, replicant_checkpoint, replicant_domain, replicant_sink,
};
pub use replicant_transport::reason::Class;

/// What a file of declarations imports.
pub mod prelude {
    pub use crate::changeset::{Actions, Changeset, Found, Values};
    pub use crate::contract::resource::ActionRef;
    pub use crate::effects::{ExternalEffect, OperationKey, Recovered};
    pub use crate::hooks::{Change, Hook, HookError, Validation};
    pub use crate::options::{DestinationConstraints, Takeover};
    pub use crate::pipeline::{Handle, Pipeline};
    pub use crate::promises::PgText;
    pub use crate::resource::{Checkpoint, Domain, Resource, SinkDeclaration};
    pub use crate::seal::{EnvironmentVault, FileVault, Keyring, Place, StaticVault, Vault};
    pub use crate::sealed::Sealed;
    pub use crate::tenant::{RowView, Tenant, TenantError};
    pub use crate::{replicant, replicant_checkpoint, replicant_domain, replicant_sink};
}

/// What the declaration macros generate calls of. Not for use by hand: it changes without notice, and its name
/// changes with it, so that macros and library of different versions do not compile together.
#[doc(hidden)]
pub mod __private {
    pub mod v0_1 {
        pub use crate::columns::{self, ColumnRef};
        pub use crate::effects::effect;
        pub use crate::hooks::{
            ActionCode, ChangeRef, Code, change, snapshot_scopes, tenant_fn, validation,
        };
        pub use crate::promises::{column, sealed_column};
        pub use crate::resource::{
            Checkpoint, Domain, Member, Members, Resource, SinkDeclaration, codes, domain_codes,
            domain_specs, member, members, period, specs,
        };
        pub use replicant_checkpoint::contract;
    }
}

#[cfg(test)]
mod fixture;
