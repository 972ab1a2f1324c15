//! How a Rust value reads and writes the server's text, for the code that looks into a row: hooks and nothing else.
//!
//! Everything else passes values on as they came. A value that the Rust type cannot hold (`infinity`, an array of two
//! dimensions, a numeric of forty digits) still travels; only a hook that asks for it as that type is refused.

mod array;
#[cfg(feature = "chrono")]
mod chrono_types;
#[cfg(any(feature = "chrono", feature = "time"))]
mod iso;
#[cfg(feature = "time")]
mod time_types;

use crate::promises::PgText;
use crate::sealed::Sealed;

/// A column type that hooks may read and write.
#[diagnostic::on_unimplemented(
    message = "a hook cannot read or write `{Self}`",
    label = "a column of this type has no form that hooks can use",
    note = "declare the field as `PgText` to use the server's text"
)]
pub trait TextForm: Sized {
    /// The value of this text, `None` being NULL. `None` when the type cannot hold it.
    fn read(text: Option<&str>) -> Option<Self>;

    /// The text of this value; `None` is NULL.
    fn write(&self) -> Option<String>;
}

impl<T: NotNull> TextForm for T {
    fn read(text: Option<&str>) -> Option<Self> {
        Self::parse(text?)
    }

    fn write(&self) -> Option<String> {
        Some(self.print())
    }
}

impl<T: NotNull> TextForm for Option<T> {
    fn read(text: Option<&str>) -> Option<Self> {
        match text {
            None => Some(None),
            Some(text) => T::parse(text).map(Some),
        }
    }

    fn write(&self) -> Option<String> {
        self.as_ref().map(NotNull::print)
    }
}

/// A type that has no NULL.
pub trait NotNull: Sized {
    /// The value of this text, unless the type cannot hold it.
    fn parse(text: &str) -> Option<Self>;

    /// The text of this value, as an input the server accepts.
    fn print(&self) -> String;
}

impl<T: NotNull> NotNull for Sealed<T> {
    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Self::new)
    }

    fn print(&self) -> String {
        self.expose().print()
    }
}

impl NotNull for bool {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "t" => Some(true),
            "f" => Some(false),
            _ => None,
        }
    }

    fn print(&self) -> String {
        if *self { "t" } else { "f" }.to_owned()
    }
}

impl NotNull for PgText {
    fn parse(text: &str) -> Option<Self> {
        Some(Self::new(text))
    }

    fn print(&self) -> String {
        self.as_str().to_owned()
    }
}

/// `bytea_output = hex`. Source: PostgreSQL documentation, "Binary Data Types".
impl NotNull for Vec<u8> {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("\\x")?.as_bytes();
        let (pairs, rest) = digits.as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        rest.is_empty()
            .then(|| pairs.iter().map(byte).collect())
            .flatten()
    }

    fn print(&self) -> String {
        let digits = self.iter().map(|byte| format!("{byte:02x}"));
        format!("\\x{}", digits.collect::<String>())
    }
}

/// Types whose `FromStr` reads what the server writes and whose `Display` the server reads.
macro_rules! by_its_own_text {
    ($($kind:ty),* $(,)?) => {$(
        impl NotNull for $kind {
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn print(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

by_its_own_text!(i16, i32, i64, f32, f64, String);

#[cfg(feature = "uuid")]
by_its_own_text!(uuid::Uuid);

/// Its `FromStr` would round away digits it has no room for.
#[cfg(feature = "rust_decimal")]
impl NotNull for rust_decimal::Decimal {
    fn parse(text: &str) -> Option<Self> {
        Self::from_str_exact(text).ok()
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

#[cfg(feature = "bigdecimal")]
by_its_own_text!(bigdecimal::BigDecimal);

#[cfg(feature = "serde_json")]
by_its_own_text!(serde_json::Value);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    pub(super) fn same<T: TextForm + PartialEq + std::fmt::Debug>(text: Option<&str>, value: T) {
        assert_eq!(T::read(text).as_ref(), Some(&value));
        assert_eq!(T::read(value.write().as_deref()), Some(value));
    }

    #[test]
    fn values_read_the_servers_text_and_are_written_as_text_it_reads() {
        same(Some("-5"), -5_i16);
        same(Some("t"), true);
        same(None, None::<bool>);
        same(Some("a,b"), Some(String::from("a,b")));
        same(Some("\\x00ff"), vec![0_u8, 255]);
        same(Some("(1,2)"), PgText::new("(1,2)"));
        same(Some("Infinity"), f64::INFINITY);
        same(Some("4111"), Some(Sealed::new(String::from("4111"))));
    }

    #[test]
    fn what_a_type_cannot_hold_is_no_value_of_it() {
        assert_eq!(i16::read(Some("40000")), None);
        assert_eq!(i16::read(None), None);
        assert_eq!(bool::read(Some("true")), None);
        assert_eq!(Vec::<u8>::read(Some("\\x0")), None);
        assert_eq!(Vec::<u8>::read(Some("\\xzz")), None);
        assert_eq!(Vec::<u8>::read(Some("00")), None);
    }

    #[cfg(feature = "rust_decimal")]
    #[test]
    fn a_decimal_is_exact_or_no_value() {
        use rust_decimal::Decimal;
        let text = "0.1234567890123456789012345678";
        assert_eq!(Decimal::read(Some(text)).unwrap().to_string(), text);
        assert_eq!(Decimal::read(Some(&format!("{text}9"))), None);
        assert_eq!(Decimal::read(Some("NaN")), None);
        same(Some("12.50"), Decimal::new(1250, 2));
    }

    /// What a field may be, a hook may read and write.
    #[test]
    fn every_type_of_a_column_has_a_text_form() {
        use crate::promises::{Column, Scalar};
        fn both<T: Scalar + TextForm>()
        where
            Vec<T>: Column + TextForm,
            Option<T>: Column + TextForm,
            Vec<Option<T>>: Column + TextForm,
            Option<Vec<T>>: Column + TextForm,
            Option<Vec<Option<T>>>: Column + TextForm,
        {
        }
        both::<bool>();
        both::<i16>();
        both::<i32>();
        both::<i64>();
        both::<f32>();
        both::<f64>();
        both::<String>();
        both::<Vec<u8>>();
        both::<PgText>();
        #[cfg(feature = "uuid")]
        both::<uuid::Uuid>();
        #[cfg(feature = "chrono")]
        {
            both::<chrono::NaiveDate>();
            both::<chrono::NaiveTime>();
            both::<chrono::NaiveDateTime>();
            both::<chrono::DateTime<chrono::Utc>>();
            both::<chrono::DateTime<chrono::FixedOffset>>();
        }
        #[cfg(feature = "time")]
        {
            both::<time::Date>();
            both::<time::Time>();
            both::<time::PrimitiveDateTime>();
            both::<time::OffsetDateTime>();
        }
        #[cfg(feature = "rust_decimal")]
        both::<rust_decimal::Decimal>();
        #[cfg(feature = "bigdecimal")]
        both::<bigdecimal::BigDecimal>();
        #[cfg(feature = "serde_json")]
        both::<serde_json::Value>();
    }
}
