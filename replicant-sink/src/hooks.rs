//! What a host may do inside a delivery: validate a row, change it, or run declared actions beside it.
//!
//! Hooks are unit types named in an action: `create(record, changes(H), validations(V), touches(Receipt))`. A pure
//! one ([`Change`], [`Validation`]) sees a changeset and nothing else, once per change and before anything is
//! folded. One that touches the database ([`Hook`]) lists what it may run, so that all of it is known, and judged,
//! before the first row.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use replicant_checkpoint::contract::resource::ActionRef;

use crate::changeset::{Actions, Changeset};
use crate::effects::EffectRef;
use crate::tenant::{ScopesFn, TenantFn};

/// Refuses rows: `validations(V)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a validation",
    label = "this type does not implement `Validation`",
    note = "validations are unit types: `struct V; impl Validation for V {{ fn validate(..) {{ .. }} }}`"
)]
pub trait Validation: Send + Sync + 'static {
    /// Looks at a row before it is written.
    ///
    /// # Errors
    /// An error stops the pipeline: what the source committed is never left out.
    fn validate(changeset: &Changeset<'_>) -> Result<(), HookError>;
}

/// Changes rows without touching the database: `changes(H)`.
pub trait Change: Send + Sync + 'static {
    /// Changes a row before it is written. It must be a pure function of the row, which may be delivered again.
    ///
    /// # Errors
    /// An error stops the pipeline.
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError>;
}

/// Changes rows and runs declared actions in the delivery transaction: `changes(H)`.
///
/// It is a full barrier: everything before its change is written, nothing after it is.
pub trait Hook: Send + Sync + 'static {
    /// Every action it may run. Others are refused at run time.
    const PARTICIPANTS: &'static [ActionRef];

    /// Runs inside the delivery transaction, before the row is written.
    ///
    /// # Errors
    /// An error stops the pipeline and rolls the transaction back.
    ///
    /// # Cancel safety
    /// Delivery never drops it halfway; a transaction that fails is rolled back whole.
    fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;
}

/// Why a hook refused. Whatever error it came from, only the name of that error's type is kept: the rest may hold
/// values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HookError {
    kind: &'static str,
}

impl HookError {
    /// A refusal described by a fixed text. Never put a value of a row in it.
    pub const fn new(kind: &'static str) -> Self {
        Self { kind }
    }

    /// The name of the error's type, or the fixed text.
    pub const fn kind(self) -> &'static str {
        self.kind
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)
    }
}

impl<E: std::error::Error> From<E> for HookError {
    fn from(_: E) -> Self {
        Self::new(std::any::type_name::<E>())
    }
}

/// What an entry of `changes(...)` must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a change",
    label = "this type implements neither `Change` nor `Hook`",
    note = "a pure change is `struct H; impl Change for H {{ .. }}`",
    note = "one that runs declared actions is `struct H; impl Hook for H {{ const PARTICIPANTS: .. }}`"
)]
pub trait ChangeOf<M> {
    /// How it is called.
    const REF: ChangeRef;
}

/// Marks types that are a [`Change`].
#[derive(Debug)]
pub enum Pure {}

/// Marks types that are a [`Hook`].
#[derive(Debug)]
pub enum Database {}

impl<H: Change> ChangeOf<Pure> for H {
    const REF: ChangeRef = ChangeRef {
        name: std::any::type_name::<H>,
        call: ChangeCall::Pure(H::change),
    };
}

impl<H: Hook> ChangeOf<Database> for H {
    const REF: ChangeRef = ChangeRef {
        name: std::any::type_name::<H>,
        call: ChangeCall::Database {
            participants: H::PARTICIPANTS,
            run: run::<H>,
        },
    };
}

/// How a change is called. The name appears in compiler messages.
pub const fn change<H: ChangeOf<M>, M>() -> ChangeRef {
    H::REF
}

fn run<'a, H: Hook>(changeset: &'a mut Changeset<'_>, actions: &'a mut Actions<'_>) -> Running<'a> {
    Box::pin(H::run(changeset, actions))
}

/// A running database hook.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<(), HookError>> + Send + 'a>>;

/// A declared change as delivery sees it.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRef {
    /// The type's name, for messages.
    pub name: fn() -> &'static str,
    /// How it is called.
    pub call: ChangeCall,
}

impl ChangeRef {
    /// Every action it may run; none for a pure one.
    pub const fn participants(&self) -> &'static [ActionRef] {
        match self.call {
            ChangeCall::Pure(_) => &[],
            ChangeCall::Database { participants, .. } => participants,
        }
    }
}

/// How a change is called.
#[derive(Clone, Copy, Debug)]
pub enum ChangeCall {
    /// It only sees the row.
    Pure(fn(&mut Changeset<'_>) -> Result<(), HookError>),
    /// It runs declared actions.
    Database {
        /// All of them.
        participants: &'static [ActionRef],
        /// The call.
        run: for<'a> fn(&'a mut Changeset<'_>, &'a mut Actions<'_>) -> Running<'a>,
    },
}

/// A declared validation as delivery sees it.
#[derive(Clone, Copy, Debug)]
pub struct ValidationRef {
    /// The type's name, for messages.
    pub name: fn() -> &'static str,
    /// The call.
    pub call: fn(&Changeset<'_>) -> Result<(), HookError>,
}

/// How a validation is called. The name appears in compiler messages.
pub const fn validation<V: Validation>() -> ValidationRef {
    ValidationRef {
        name: std::any::type_name::<V>,
        call: V::validate,
    }
}

/// What one action calls.
#[derive(Clone, Copy, Debug)]
pub struct ActionCode {
    /// What it is called: its name, or the word of its kind.
    pub action: &'static str,
    /// Its changes, in the order declared.
    pub changes: &'static [ChangeRef],
    /// Its validations, run after every change.
    pub validations: &'static [ValidationRef],
    /// `message(effect = ...)`.
    pub effect: Option<EffectRef>,
}

/// The functions a declaration names. The specification is data and cannot hold them, so they stand beside it.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `tenant_fn(path = ...)`.
    pub tenant: Option<TenantFn>,
    /// `snapshot_scopes(path = ...)`.
    pub scopes: Option<ScopesFn>,
    /// Actions that call something.
    pub actions: &'static [ActionCode],
}

/// `tenant_fn(path = ...)`. The name appears in compiler messages.
pub const fn tenant_fn(function: TenantFn) -> TenantFn {
    function
}

/// `snapshot_scopes(path = ...)`. The name appears in compiler messages.
pub const fn snapshot_scopes(function: ScopesFn) -> ScopesFn {
    function
}

impl Code {
    /// A declaration that names no function.
    pub const NONE: Self = Self {
        tenant: None,
        scopes: None,
        actions: &[],
    };
}
