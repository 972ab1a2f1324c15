//! Which names are names: identifiers checked once at construction, and the one place that quotes them.
//!
//! The replication protocol has no bind parameters, and the destination's SQL interpolates names, so a name that
//! reaches SQL has always passed through here. Source: PostgreSQL documentation, "Identifiers and Key Words".

use std::fmt;

/// Longest identifier in bytes: PostgreSQL truncates anything longer (`NAMEDATALEN - 1`).
pub const IDENT_BYTES_MAX: usize = 63;

/// Why a text is not an identifier. It never carries the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnIdent {
    /// The text is empty.
    Empty,
    /// The text is longer than 63 bytes; the server would silently cut it.
    TooLong,
    /// The text holds a control character.
    ControlCharacter,
    /// A slot name holds something other than `a-z`, `0-9` and `_`.
    NotASlotName,
    /// A qualified name is not `schema.table`.
    NotQualified,
}

impl fmt::Display for NotAnIdent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "an identifier cannot be empty",
            Self::TooLong => "an identifier is at most 63 bytes long",
            Self::ControlCharacter => "an identifier cannot hold control characters",
            Self::NotASlotName => "a slot name is 1 to 63 of a-z, 0-9 and _",
            Self::NotQualified => "expected schema.table with exactly one dot",
        })
    }
}

impl std::error::Error for NotAnIdent {}

/// Is this text a PostgreSQL identifier? Usable in constants.
pub const fn check_ident(text: &str) -> Result<(), NotAnIdent> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(NotAnIdent::Empty);
    }
    if bytes.len() > IDENT_BYTES_MAX {
        return Err(NotAnIdent::TooLong);
    }
    let mut rest = bytes;
    while let [byte, tail @ ..] = rest {
        if *byte < 0x20 || *byte == 0x7F {
            return Err(NotAnIdent::ControlCharacter);
        }
        // U+0080 to U+009F, the C1 controls, are 0xC2 0x80..=0x9F in UTF-8.
        if *byte == 0xC2
            && let [second, ..] = tail
            && *second <= 0x9F
        {
            return Err(NotAnIdent::ControlCharacter);
        }
        rest = tail;
    }
    Ok(())
}

/// Is this text a replication slot name? Usable in constants.
pub const fn check_slot_name(text: &str) -> Result<(), NotAnIdent> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(NotAnIdent::Empty);
    }
    if bytes.len() > IDENT_BYTES_MAX {
        return Err(NotAnIdent::TooLong);
    }
    let mut rest = bytes;
    while let [byte, tail @ ..] = rest {
        if !matches!(*byte, b'a'..=b'z' | b'0'..=b'9' | b'_') {
            return Err(NotAnIdent::NotASlotName);
        }
        rest = tail;
    }
    Ok(())
}

/// A name of a schema, table, column or type, exactly as the catalog spells it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ident(Box<str>);

impl Ident {
    /// Checks a name.
    ///
    /// # Errors
    /// [`NotAnIdent`] when the name is empty, longer than 63 bytes or holds a control character.
    pub fn new(text: &str) -> Result<Self, NotAnIdent> {
        check_ident(text)?;
        Ok(Self(text.into()))
    }

    /// The name, unquoted.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name for use in SQL: always quoted, so that case and reserved words are kept.
    pub fn quoted(&self) -> Quoted<'_> {
        Quoted(&self.0)
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.quoted(), f)
    }
}

/// Writes an identifier in double quotes, embedded quotes doubled.
#[derive(Clone, Copy)]
pub struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for (index, part) in self.0.split('"').enumerate() {
            if index > 0 {
                f.write_str("\"\"")?;
            }
            f.write_str(part)?;
        }
        f.write_str("\"")
    }
}

/// A text literal for SQL that cannot take parameters (the replication protocol's simple queries).
#[derive(Clone, Copy)]
pub struct Literal<'a>(pub &'a str);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The E'' form means the same whatever standard_conforming_strings says.
        f.write_str("E'")?;
        for ch in self.0.chars() {
            match ch {
                '\'' => f.write_str("''")?,
                '\\' => f.write_str("\\\\")?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("'")
    }
}

/// A schema and a name in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName {
    /// The schema.
    pub schema: Ident,
    /// The table, type or operator's name within it.
    pub name: Ident,
}

impl QualifiedName {
    /// Checks both halves.
    ///
    /// # Errors
    /// [`NotAnIdent`] when either half is not an identifier.
    pub fn new(schema: &str, name: &str) -> Result<Self, NotAnIdent> {
        Ok(Self {
            schema: Ident::new(schema)?,
            name: Ident::new(name)?,
        })
    }

    /// Parses `schema.table`: exactly one dot, both halves identifiers, no quoting.
    ///
    /// # Errors
    /// [`NotAnIdent`] naming what is wrong.
    pub fn parse(text: &str) -> Result<Self, NotAnIdent> {
        let (schema, name) = text.split_once('.').ok_or(NotAnIdent::NotQualified)?;
        if name.contains('.') {
            return Err(NotAnIdent::NotQualified);
        }
        Self::new(schema, name)
    }

    /// `"schema"."name"` for use in SQL.
    pub fn quoted(&self) -> impl fmt::Display + '_ {
        QuotedPair(self)
    }
}

struct QuotedPair<'a>(&'a QualifiedName);

impl fmt::Display for QuotedPair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.schema.quoted(), self.0.name.quoted())
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

impl fmt::Debug for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.quoted(), f)
    }
}

/// A replication slot name: 1 to 63 of `a-z`, `0-9` and `_`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SlotName(Box<str>);

impl SlotName {
    /// Checks a slot name.
    ///
    /// # Errors
    /// [`NotAnIdent`] when the server would refuse it.
    pub fn new(text: &str) -> Result<Self, NotAnIdent> {
        check_slot_name(text)?;
        Ok(Self(text.into()))
    }

    /// The name; it never needs quoting.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_every_name_and_doubles_embedded_quotes() {
        for (name, quoted) in [
            ("orders", "\"orders\""),
            ("select", "\"select\""),
            ("Sch ema", "\"Sch ema\""),
            ("T\"q.x", "\"T\"\"q.x\""),
            ("\"", "\"\"\"\""),
            ("ünï", "\"ünï\""),
        ] {
            assert_eq!(Ident::new(name).unwrap().quoted().to_string(), quoted);
        }
        let name = QualifiedName::new("Sch ema", "T\"q.x").unwrap();
        assert_eq!(name.quoted().to_string(), "\"Sch ema\".\"T\"\"q.x\"");
    }

    #[test]
    fn refuses_what_the_server_would_cut_or_reject_without_echoing_it() {
        let long = "x".repeat(64);
        for (name, why) in [
            ("", NotAnIdent::Empty),
            (long.as_str(), NotAnIdent::TooLong),
            ("a\nb", NotAnIdent::ControlCharacter),
            ("a\0", NotAnIdent::ControlCharacter),
            ("a\u{7f}", NotAnIdent::ControlCharacter),
            ("a\u{85}b", NotAnIdent::ControlCharacter),
        ] {
            assert_eq!(Ident::new(name).unwrap_err(), why);
        }
        assert!(Ident::new(&"é".repeat(31)).is_ok());
        assert_eq!(
            Ident::new(&"é".repeat(32)).unwrap_err(),
            NotAnIdent::TooLong
        );
    }

    #[test]
    fn slot_names_are_lower_case_letters_digits_and_underscores() {
        assert!(SlotName::new("shop_orders_2").is_ok());
        for bad in ["Bad", "a-b", "a b", "ä", "a'b"] {
            assert_eq!(
                SlotName::new(bad).unwrap_err(),
                NotAnIdent::NotASlotName,
                "{bad}"
            );
        }
    }

    #[test]
    fn qualified_names_have_exactly_one_dot() {
        assert!(QualifiedName::parse("public.orders").is_ok());
        for bad in ["orders", "a.b.c", ".orders", "public."] {
            assert!(QualifiedName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn literals_cannot_end_early() {
        assert_eq!(Literal("it's \\ ok").to_string(), "E'it''s \\\\ ok'");
    }
}
