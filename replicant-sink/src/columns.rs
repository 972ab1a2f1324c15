//! How Rust code names a declared column or action: the tokens behind `Order::COLUMNS` and `Order::ACTIONS`.
//!
//! A column's token knows its resource, its type and what the column is for, so that a hook which sets the key of a
//! row, or a text where a number belongs, does not compile.

use std::fmt;
use std::marker::PhantomData;

use crate::resource::Resource;

/// A column of resource `R`, of type `T`, in the role `P`. Constants of it are in `R::COLUMNS`.
pub struct ColumnRef<R, T, P> {
    field: &'static str,
    of: PhantomData<fn() -> (R, T, P)>,
}

impl<R: Resource, T, P> ColumnRef<R, T, P> {
    /// The column of this field. Generated code calls it; the name is not checked.
    #[doc(hidden)]
    pub const fn new(field: &'static str) -> Self {
        Self {
            field,
            of: PhantomData,
        }
    }

    /// The field's name.
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// The resource's path.
    pub const fn resource(&self) -> &'static str {
        R::PATH
    }
}

impl<R, T, P> Clone for ColumnRef<R, T, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, T, P> Copy for ColumnRef<R, T, P> {}

impl<R, T, P> fmt::Debug for ColumnRef<R, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnRef({})", self.field)
    }
}

/// A role whose columns a hook may set.
#[diagnostic::on_unimplemented(
    message = "replicant: a hook cannot set a column that is a `{Self}`",
    label = "this column is protected",
    note = "keys, tenants, windows, structural and provenance columns decide which row is meant, so only the library \
            sets them; a hook may set every other mapped column"
)]
pub trait Settable {}

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $role {}
    )*};
}

roles! {
    /// A mapped column that only carries a value.
    Value,
    /// Part of the primary key or of an identity.
    Key,
    /// The tenant, or what it is told by.
    TenantKey,
    /// Start, end or flag of a version.
    Window,
    /// An axis or label of an append log's event.
    Structural,
    /// What marks a row as seen by a snapshot.
    Provenance,
    /// Made by the destination.
    Generated,
    /// What a source column held before the change.
    Before,
}

impl Settable for Value {}
