//! What a message may do outside the destination: `message(retention = "72h", effect = Mailer)`.
//!
//! A claim in the destination remembers the effect, but no transaction spans both, so after a crash somebody must say
//! whether it happened. The peer has to know the operation key for that.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::hooks::HookError;

/// An effect outside the destination.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an external effect",
    label = "this type does not implement `ExternalEffect`",
    note = "effects are unit types: `struct E; impl ExternalEffect for E {{ async fn execute(..) .. async fn \
            recover(..) .. }}`"
)]
pub trait ExternalEffect: Send + Sync + 'static {
    /// Does it, once per key: the peer takes a second call with the same key for a repetition.
    ///
    /// # Errors
    /// An error halts the pipeline, and the next start asks [`recover`](Self::recover) first.
    fn execute(
        key: &OperationKey,
        content: &[u8],
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Did it happen? Asked whenever an earlier call may have been interrupted.
    ///
    /// # Errors
    /// An error is taken for [`Recovered::Unknown`].
    fn recover(key: &OperationKey) -> impl Future<Output = Result<Recovered, HookError>> + Send;
}

/// Whether an effect happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Recovered {
    /// It did.
    Found,
    /// It certainly did not.
    Absent,
    /// Nobody can tell: the pipeline halts.
    Unknown,
}

/// What identifies an effect wherever it is repeated. It holds no value of the message.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OperationKey(String);

impl OperationKey {
    /// A key by its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its text, to be given to the peer.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for OperationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperationKey(..)")
    }
}

/// An effect or the question about it, running.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, HookError>> + Send + 'a>>;

/// A declared effect as delivery sees it.
#[derive(Clone, Copy, Debug)]
pub struct EffectRef {
    /// The type's name, for messages.
    pub name: fn() -> &'static str,
    /// Does it.
    pub execute: for<'a> fn(&'a OperationKey, &'a [u8]) -> Pending<'a, ()>,
    /// Asks whether it happened.
    pub recover: for<'a> fn(&'a OperationKey) -> Pending<'a, Recovered>,
}

/// How an effect is called. The name appears in compiler messages.
pub const fn effect<E: ExternalEffect>() -> EffectRef {
    EffectRef {
        name: std::any::type_name::<E>,
        execute: execute::<E>,
        recover: recover::<E>,
    }
}

fn execute<'a, E: ExternalEffect>(key: &'a OperationKey, content: &'a [u8]) -> Pending<'a, ()> {
    Box::pin(E::execute(key, content))
}

fn recover<E: ExternalEffect>(key: &OperationKey) -> Pending<'_, Recovered> {
    Box::pin(E::recover(key))
}
