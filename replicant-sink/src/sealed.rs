//! Which values must never be stored in the clear: the type that says so.
//!
//! A field of this type and the option `encrypted` belong together; each without the other does not compile. The
//! destination column is then `encrypted_<name>` of type `bytea`, and what it holds only the key can open.

use std::fmt;

/// A value that is encrypted before it leaves the process: the field type of `#[replicant(encrypted)]` columns.
///
/// `Option<Sealed<T>>` is the nullable form; that a value is NULL stays visible. It never prints what it holds.
///
/// ```
/// use replicant_sink::prelude::*;
///
/// let pan = Sealed::new(String::from("4111"));
/// assert_eq!(format!("{pan:?}"), "Sealed(..)");
/// assert_eq!(pan.expose(), "4111");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Sealed<T>(T);

impl<T> Sealed<T> {
    /// Takes a value out of sight.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for code that means to see it.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Sealed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(..)")
    }
}
