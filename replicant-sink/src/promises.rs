//! Which Rust types may be columns, and what each promises about the PostgreSQL type behind it.
//!
//! Values travel as the server sent them and are decoded only for hooks, so a type is a promise that admission
//! checks, not a conversion. `#[replicant]` asks the compiler, never the spelling: an alias of a listed type is a
//! column, a struct of the same name is not.

use std::fmt;

use replicant_checkpoint::contract::resource::{ColumnSpec, Nullability, Storage, Wrapping};

use crate::sealed::Sealed;

/// A type that a field of a resource may have.
#[diagnostic::on_unimplemented(
    message = "replicant[column_type]: `{Self}` cannot be a column",
    label = "this type promises nothing about a PostgreSQL type",
    note = "columns are bool, i16, i32, i64, f32, f64, String, Vec<u8>, PgText, Option<T> and Vec<T> of these, Sealed<T> with \
            `encrypted`, and with the feature of the same name the types of uuid, chrono, time, rust_decimal, bigdecimal \
            and serde_json",
    note = "use `PgText` for a PostgreSQL type that has no Rust type"
)]
pub trait Column {
    /// The family of PostgreSQL types.
    const STORAGE: Storage;
    /// Whether NULL is possible.
    const NULLABILITY: Nullability;
}

/// A type that an `Option<T>`, `Vec<T>` or `Sealed<T>` column may hold: any column type but `Option`.
#[diagnostic::on_unimplemented(
    message = "replicant[column_type]: `{Self}` cannot be inside an `Option`, `Vec` or `Sealed` column",
    label = "an `Option`, `Vec` or `Sealed` of this is not a column",
    note = "inside are bool, i16, i32, i64, f32, f64, String, Vec<u8>, PgText, and with the feature of the same \
            name the types of uuid, chrono, time, rust_decimal, bigdecimal and serde_json"
)]
pub trait Scalar {
    /// The family of PostgreSQL types.
    const STORAGE: Storage;
}

/// Any value as the server's text, for types without a Rust type: domains, ranges, composites, extension types.
///
/// It never prints what it holds.
#[derive(Clone, PartialEq, Eq)]
pub struct PgText(String);

impl PgText {
    /// A value in the server's text form.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The value in the server's text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PgText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgText({} bytes)", self.0.len())
    }
}

// The notes of the traits list the types, in words; the compiler's own list of implementations would repeat it.
macro_rules! scalars {
    ($($kind:ty => $storage:ident),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl Scalar for $kind {
            const STORAGE: Storage = Storage::$storage;
        }
        #[diagnostic::do_not_recommend]
        impl Column for $kind {
            const STORAGE: Storage = Storage::$storage;
            const NULLABILITY: Nullability = Nullability::NotNull;
        }
    )*};
}

scalars! {
    bool => Bool,
    i16 => Int2,
    i32 => Int4,
    i64 => Int8,
    f32 => Float4,
    f64 => Float8,
    String => Text,
    Vec<u8> => Bytes,
    PgText => Any,
}

#[cfg(feature = "uuid")]
scalars! { uuid::Uuid => Uuid }

#[cfg(feature = "chrono")]
scalars! {
    chrono::NaiveDate => Date,
    chrono::NaiveTime => Time,
    chrono::NaiveDateTime => Timestamp,
}

#[cfg(feature = "chrono")]
#[diagnostic::do_not_recommend]
impl<Z: chrono::TimeZone> Scalar for chrono::DateTime<Z> {
    const STORAGE: Storage = Storage::TimestampTz;
}

#[cfg(feature = "chrono")]
#[diagnostic::do_not_recommend]
impl<Z: chrono::TimeZone> Column for chrono::DateTime<Z> {
    const STORAGE: Storage = Storage::TimestampTz;
    const NULLABILITY: Nullability = Nullability::NotNull;
}

#[cfg(feature = "time")]
scalars! {
    time::Date => Date,
    time::Time => Time,
    time::PrimitiveDateTime => Timestamp,
    time::OffsetDateTime => TimestampTz,
}

#[cfg(feature = "rust_decimal")]
scalars! { rust_decimal::Decimal => Numeric }

#[cfg(feature = "bigdecimal")]
scalars! { bigdecimal::BigDecimal => Numeric }

#[cfg(feature = "serde_json")]
scalars! { serde_json::Value => Json }

impl<T: Scalar> Column for Option<T> {
    const STORAGE: Storage = T::STORAGE;
    const NULLABILITY: Nullability = Nullability::Nullable;
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Column for Vec<T> {
    const STORAGE: Storage = Storage::Array;
    const NULLABILITY: Nullability = Nullability::NotNull;
}

/// An array whose elements may be NULL.
#[diagnostic::do_not_recommend]
impl<T: Scalar> Column for Vec<Option<T>> {
    const STORAGE: Storage = Storage::Array;
    const NULLABILITY: Nullability = Nullability::NotNull;
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Column for Option<Vec<T>> {
    const STORAGE: Storage = Storage::Array;
    const NULLABILITY: Nullability = Nullability::Nullable;
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Column for Option<Vec<Option<T>>> {
    const STORAGE: Storage = Storage::Array;
    const NULLABILITY: Nullability = Nullability::Nullable;
}

/// Never implemented: the compiler asks for it where a sealed type is used without `encrypted`.
#[diagnostic::on_unimplemented(
    message = "replicant[encrypted_missing]: the field has a sealed type, and nothing seals it",
    label = "the value would be stored in the clear",
    note = "add `#[replicant(encrypted)]` to the field"
)]
pub trait SealedByNothing {}

impl<T: SealedByNothing> Column for Sealed<T> {
    const STORAGE: Storage = Storage::Any;
    const NULLABILITY: Nullability = Nullability::NotNull;
}

impl<T: SealedByNothing> Scalar for Sealed<T> {
    const STORAGE: Storage = Storage::Any;
}

/// A type that a field with `encrypted` may have: `Sealed<T>` and `Option<Sealed<T>>`.
#[diagnostic::on_unimplemented(
    message = "replicant[encrypted_type]: the field is `encrypted`, and `{Self}` does not say so",
    label = "this is not a sealed type",
    note = "write `Sealed<T>`, or `Option<Sealed<T>>` for a column that may be NULL"
)]
pub trait SealedColumn {
    /// The family of PostgreSQL types inside.
    const STORAGE: Storage;
    /// Whether NULL is possible. That a value is NULL stays visible.
    const NULLABILITY: Nullability;
}

impl<T: Scalar> SealedColumn for Sealed<T> {
    const STORAGE: Storage = T::STORAGE;
    const NULLABILITY: Nullability = Nullability::NotNull;
}

impl<T: Scalar> SealedColumn for Option<Sealed<T>> {
    const STORAGE: Storage = T::STORAGE;
    const NULLABILITY: Nullability = Nullability::Nullable;
}

/// What a declared field compiles to, before its options. The name appears in compiler messages.
pub const fn column<T: Column>(field: &'static str, target: &'static str) -> ColumnSpec {
    ColumnSpec {
        target,
        nullability: T::NULLABILITY,
        ..ColumnSpec::new(field, T::STORAGE)
    }
}

/// What a declared field with `encrypted` compiles to, before its other options. The name appears in compiler
/// messages.
pub const fn sealed_column<T: SealedColumn>(
    field: &'static str,
    target: &'static str,
) -> ColumnSpec {
    ColumnSpec {
        target,
        nullability: T::NULLABILITY,
        wrapping: Wrapping::Sealed,
        ..ColumnSpec::new(field, T::STORAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise<T: Column>() -> (Storage, Nullability) {
        let spec = const { column::<T>("f", "f") };
        (spec.storage, spec.nullability)
    }

    #[test]
    fn a_type_promises_its_family_and_whether_null_is_possible() {
        type Alias = Option<Vec<u8>>;
        use Nullability::{NotNull, Nullable};
        assert_eq!(promise::<i16>(), (Storage::Int2, NotNull));
        assert_eq!(promise::<Option<f64>>(), (Storage::Float8, Nullable));
        assert_eq!(promise::<Vec<u8>>(), (Storage::Bytes, NotNull));
        assert_eq!(promise::<Alias>(), (Storage::Bytes, Nullable));
        assert_eq!(promise::<Vec<Vec<u8>>>(), (Storage::Array, NotNull));
        assert_eq!(promise::<Vec<Option<i32>>>(), (Storage::Array, NotNull));
        assert_eq!(promise::<Option<Vec<String>>>(), (Storage::Array, Nullable));
        assert_eq!(promise::<PgText>(), (Storage::Any, NotNull));
    }

    #[test]
    fn a_sealed_type_says_so_through_an_alias() {
        type Alias = Option<Sealed<i64>>;
        let spec = const { sealed_column::<Alias>("pan", "encrypted_pan") };
        assert_eq!(spec.wrapping, Wrapping::Sealed);
        assert_eq!(spec.storage, Storage::Int8);
        assert_eq!(spec.nullability, Nullability::Nullable);
    }

    #[test]
    fn text_of_a_row_is_not_printed() {
        assert_eq!(format!("{:?}", PgText::new("secret")), "PgText(6 bytes)");
    }
}
