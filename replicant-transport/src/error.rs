//! What an error may say: a closed reason and structural names, never a value and never the server's words.

use std::fmt;

use crate::ident::{Ident, QualifiedName};
use crate::position::Lsn;
use crate::reason::Reason;

/// A five-character SQLSTATE. The only part of a server error that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlState([u8; 5]);

impl SqlState {
    /// `internal_error`: also stands for a condition that is not five safe characters.
    pub const INTERNAL: Self = Self(*b"XX000");

    /// Checks that the code is five upper-case letters or digits.
    pub fn new(code: &str) -> Option<Self> {
        let bytes: [u8; 5] = code.as_bytes().try_into().ok()?;
        bytes
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            .then_some(Self(bytes))
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XX000")
    }

    /// The first two characters: the class of the condition.
    pub fn class(&self) -> &str {
        self.as_str().get(..2).unwrap_or("XX")
    }

    /// Does it say that the connection or the server went away, rather than anything about the work?
    ///
    /// Not 57P04, because a dropped database does not come back, and not 08P01: a server answers with it to a malformed
    /// binary value, and would do so again.
    pub fn is_connection_loss(&self) -> bool {
        match self.as_str() {
            "57P01" | "57P02" | "57P03" => true,
            "08P01" => false,
            _ => self.class() == "08",
        }
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where something went wrong, in names that come from a declaration or the catalog.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Site {
    /// The table, source or destination as the reason implies.
    pub table: Option<QualifiedName>,
    /// The column of that table.
    pub column: Option<Ident>,
    /// The configuration option, by its key.
    pub option: Option<&'static str>,
    /// The commit record or other location.
    pub lsn: Option<Lsn>,
    /// The server's condition code.
    pub sqlstate: Option<SqlState>,
    /// A structural fact written by us, such as `replica identity n` or the DDL to run. Never built from row data.
    pub fact: Option<String>,
}

impl Site {
    /// Nowhere in particular.
    pub fn none() -> Self {
        Self::default()
    }

    /// At this table.
    pub fn table(name: &QualifiedName) -> Self {
        Self {
            table: Some(name.clone()),
            ..Self::default()
        }
    }

    /// At this configuration option.
    pub fn option(key: &'static str) -> Self {
        Self {
            option: Some(key),
            ..Self::default()
        }
    }

    /// At this column of the table named before.
    #[must_use]
    pub fn column(mut self, name: &Ident) -> Self {
        self.column = Some(name.clone());
        self
    }

    /// At this location.
    #[must_use]
    pub fn lsn(mut self, lsn: Lsn) -> Self {
        self.lsn = Some(lsn);
        self
    }

    /// With this condition code.
    #[must_use]
    pub fn sqlstate(mut self, state: Option<SqlState>) -> Self {
        self.sqlstate = state;
        self
    }

    /// With this structural fact. The text must not contain anything read from a row or sent by a server.
    #[must_use]
    pub fn fact(mut self, fact: impl Into<String>) -> Self {
        self.fact = Some(fact.into());
        self
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, " table {table}")?;
        }
        if let Some(column) = &self.column {
            write!(f, " column {column}")?;
        }
        if let Some(option) = self.option {
            write!(f, " option {option}")?;
        }
        if let Some(lsn) = self.lsn {
            write!(f, " at {lsn}")?;
        }
        if let Some(state) = self.sqlstate {
            write!(f, " (SQLSTATE {state})")?;
        }
        if let Some(fact) = &self.fact {
            write!(f, ": {fact}")?;
        }
        Ok(())
    }
}

/// Why the transport stopped: a closed reason and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The closed reason.
    pub reason: Reason,
    /// Where, structurally.
    pub site: Site,
}

impl Error {
    /// A reason at a site.
    pub fn new(reason: Reason, site: Site) -> Self {
        Self { reason, site }
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Self::new(reason, Site::none())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}; {}", self.reason, self.site, self.reason.help())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_code_place_and_help() {
        let table = QualifiedName::new("public", "orders").unwrap();
        let site = Site::table(&table)
            .column(&Ident::new("amount").unwrap())
            .sqlstate(SqlState::new("22P02"));
        let text = Error::new(Reason::ConfigInvalid, site).to_string();
        assert!(
            text.starts_with("config_invalid table public.orders column amount (SQLSTATE 22P02); "),
            "{text}"
        );
    }

    #[test]
    fn a_condition_code_is_five_safe_characters() {
        assert!(SqlState::new("40P01").is_some());
        for bad in ["", "4000", "400001", "40p01", "40\n01", "héé"] {
            assert!(SqlState::new(bad).is_none(), "{bad:?}");
        }
        assert_eq!(SqlState::new("57P01").unwrap().class(), "57");
    }
}
