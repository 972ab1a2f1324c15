//! How a Rust value reads and writes the server's text, for the code that looks into a row: hooks and nothing else.
//!
//! Everything else passes values on as they came. A value that the Rust type cannot hold (`infinity`, a year before
//! Christ, a numeric of forty digits) still travels; only a hook that asks for it as that type is refused.

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

#[cfg(feature = "rust_decimal")]
by_its_own_text!(rust_decimal::Decimal);

#[cfg(feature = "bigdecimal")]
by_its_own_text!(bigdecimal::BigDecimal);

#[cfg(feature = "serde_json")]
by_its_own_text!(serde_json::Value);

/// `DateStyle = ISO`. Source: PostgreSQL documentation, "Date/Time Output".
#[cfg(feature = "chrono")]
mod chrono_types {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

    use super::NotNull;

    by_its_own_text!(NaiveDate, NaiveTime);

    impl NotNull for NaiveDateTime {
        fn parse(text: &str) -> Option<Self> {
            Self::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()
        }

        fn print(&self) -> String {
            self.format("%Y-%m-%d %H:%M:%S%.6f").to_string()
        }
    }

    impl NotNull for DateTime<Utc> {
        fn parse(text: &str) -> Option<Self> {
            let with_offset = DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z").ok()?;
            Some(with_offset.with_timezone(&Utc))
        }

        fn print(&self) -> String {
            self.format("%Y-%m-%d %H:%M:%S%.6f+00").to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn same<T: TextForm + PartialEq + std::fmt::Debug>(text: Option<&str>, value: T) {
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

    #[cfg(feature = "chrono")]
    #[test]
    fn an_instant_has_any_offset() {
        use chrono::{DateTime, Utc};
        let at = |text| {
            DateTime::<Utc>::read(Some(text))
                .unwrap()
                .timestamp_micros()
        };
        assert_eq!(at("1970-01-01 05:30:00.000001+05:30"), 1);
        assert_eq!(at("1970-01-01 00:00:01+00"), 1_000_000);
        assert_eq!(DateTime::<Utc>::read(Some("infinity")), None);
        same(
            Some("2020-01-01 00:00:00-08"),
            DateTime::<Utc>::read(Some("2020-01-01 08:00:00+00")).unwrap(),
        );
    }
}
