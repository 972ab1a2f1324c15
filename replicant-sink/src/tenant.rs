//! Whose row is it? What a tenant is, and how a host's own function tells it from a source row.

use std::fmt;

use replicant_transport::cell::Cell;

/// The scope of a row. Never blank, never defaulted, and never printed: it may name a customer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(String);

impl Tenant {
    /// A tenant by its text form, which is kept as it is.
    ///
    /// # Errors
    /// [`TenantError::Missing`] for a blank text: a row of nobody is no row of everybody. [`TenantError::Unknown`] for
    /// one with a NUL, which no server stores.
    pub fn new(text: impl Into<String>) -> Result<Self, TenantError> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(TenantError::Missing);
        }
        if text.contains('\0') {
            return Err(TenantError::Unknown);
        }
        Ok(Self(text))
    }

    /// Its text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tenant(..)")
    }
}

/// Why a row's tenant is not known. It holds no value of the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum TenantError {
    /// The row says nothing about its tenant: the column is NULL or blank.
    Missing,
    /// The row's value is no tenant: the function does not know it.
    Unknown,
    /// The server did not send the column, because the statement did not change it.
    Unchanged,
    /// The row has no such column, or its value is not text.
    Column,
}

impl fmt::Display for TenantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the row names no tenant",
            Self::Unknown => "the row's tenant is not known",
            Self::Unchanged => "the tenant's column was not sent",
            Self::Column => "the row has no such column",
        })
    }
}

impl std::error::Error for TenantError {}

/// `tenant_fn(path = crate::tenants::of, args("eu"))`: tells a row's tenant; the second argument is `args`.
///
/// It is called for each row of a change, the new one first and then the old one, before anything is written. It must be
/// a pure function of its arguments: the same row has the same tenant whenever it is delivered again. An error stops the
/// pipeline, and so does a panic.
pub type TenantFn = fn(&RowView<'_>, &[&str]) -> Result<Tenant, TenantError>;

/// `snapshot_scopes(path = f)`: every tenant whose rows a snapshot may retire.
pub type ScopesFn = fn() -> Result<Vec<Tenant>, TenantError>;

/// A source row, by the names of its source columns, skipped ones included. Values are the server's text.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    columns: &'a [&'a str],
    cells: &'a [Cell<'a>],
}

impl<'a> RowView<'a> {
    /// The row of these columns. A column without a cell was not sent.
    pub const fn new(columns: &'a [&'a str], cells: &'a [Cell<'a>]) -> Self {
        Self { columns, cells }
    }

    /// The text of a column that must have a value.
    ///
    /// # Errors
    /// [`TenantError::Missing`] for NULL, [`TenantError::Unchanged`] for a value that was not sent,
    /// [`TenantError::Column`] for a column that does not exist or whose value is not text.
    pub fn text(&self, column: &str) -> Result<&'a str, TenantError> {
        self.optional_text(column)?.ok_or(TenantError::Missing)
    }

    /// The text of a column; `None` for NULL.
    ///
    /// # Errors
    /// As [`text`](Self::text), without `Missing`.
    pub fn optional_text(&self, column: &str) -> Result<Option<&'a str>, TenantError> {
        let at = self.columns.iter().position(|name| *name == column);
        let at = at.ok_or(TenantError::Column)?;
        match self.cells.get(at) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Text(bytes)) => std::str::from_utf8(bytes)
                .map(Some)
                .map_err(|_| TenantError::Column),
            Some(Cell::Binary(_)) => Err(TenantError::Column),
            Some(Cell::Unchanged) | None => Err(TenantError::Unchanged),
        }
    }
}

impl fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_never_blank_and_never_printed() {
        for blank in ["", " ", "\t\n", "\u{a0}"] {
            assert_eq!(Tenant::new(blank), Err(TenantError::Missing));
        }
        assert_eq!(Tenant::new("a\0"), Err(TenantError::Unknown));
        assert_eq!(Tenant::new(" a ").unwrap().as_str(), " a ");
        let acme = Tenant::new("acme").unwrap();
        assert_eq!(format!("{acme:?}"), "Tenant(..)");
        assert_eq!(acme.as_str(), "acme");
    }

    #[test]
    fn a_column_that_says_nothing_is_told_apart_from_one_that_was_not_sent() {
        let cells = [
            Cell::Text(b"acme"),
            Cell::Null,
            Cell::Unchanged,
            Cell::Binary(b"acme"),
        ];
        let row = RowView::new(&["a", "b", "c", "d", "e"], &cells);
        assert_eq!(row.text("a"), Ok("acme"));
        assert_eq!(row.text("b"), Err(TenantError::Missing));
        assert_eq!(row.optional_text("b"), Ok(None));
        assert_eq!(row.text("c"), Err(TenantError::Unchanged));
        assert_eq!(row.text("d"), Err(TenantError::Column));
        assert_eq!(row.text("e"), Err(TenantError::Unchanged));
        assert_eq!(row.text("f"), Err(TenantError::Column));
        assert!(!format!("{row:?}").contains("acme"));
    }
}
