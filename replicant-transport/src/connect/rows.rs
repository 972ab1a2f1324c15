//! What a simple query answered: text values, read by column name.
//!
//! Forks and newer servers reorder and add columns, so nothing is read by position; every value is text and is parsed
//! here, so that numbers are never compared as text.

use std::fmt;
use std::str::FromStr;

use bytes::{Buf, Bytes};

use super::fault::ServerFault;

/// The rows of one statement.
pub struct RowSet {
    columns: Vec<String>,
    rows: Vec<Vec<Option<Bytes>>>,
}

/// One row of a [`RowSet`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [String],
    values: &'a [Option<Bytes>],
}

impl RowSet {
    /// Column names, in the server's order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row {
            columns: &self.columns,
            values,
        })
    }

    /// The only row.
    ///
    /// # Errors
    /// [`ServerFault::Unexpected`] when there is none or more than one.
    pub fn only(&self) -> Result<Row<'_>, ServerFault> {
        let mut rows = self.rows();
        match (rows.next(), rows.next()) {
            (Some(row), None) => Ok(row),
            _ => Err(ServerFault::Unexpected),
        }
    }

    /// Parses a RowDescription: a count, then per column a name and 18 bytes that text values do not need.
    pub(super) fn described(mut body: Bytes) -> Result<Self, ServerFault> {
        const COLUMN_FACTS_BYTES: usize = 18;
        let count = body.try_get_u16().map_err(|_| ServerFault::Unexpected)?;
        let mut columns = Vec::new();
        for _ in 0..count {
            let end = body
                .iter()
                .position(|byte| *byte == 0)
                .ok_or(ServerFault::Unexpected)?;
            let name = body.split_to(end);
            if body.len() < 1 + COLUMN_FACTS_BYTES {
                return Err(ServerFault::Unexpected);
            }
            body.advance(1 + COLUMN_FACTS_BYTES);
            columns.push(String::from_utf8(name.to_vec()).map_err(|_| ServerFault::Unexpected)?);
        }
        Ok(Self {
            columns,
            rows: Vec::new(),
        })
    }

    /// Adds a DataRow: a count, then per column a length (-1 for NULL) and the text.
    pub(super) fn push(&mut self, mut body: Bytes) -> Result<(), ServerFault> {
        let count = body.try_get_u16().map_err(|_| ServerFault::Unexpected)?;
        if usize::from(count) != self.columns.len() {
            return Err(ServerFault::Unexpected);
        }
        let mut values = Vec::with_capacity(self.columns.len());
        for _ in 0..count {
            let length = body.try_get_i32().map_err(|_| ServerFault::Unexpected)?;
            if length == -1 {
                values.push(None);
                continue;
            }
            let length = usize::try_from(length).map_err(|_| ServerFault::Unexpected)?;
            if length > body.len() {
                return Err(ServerFault::Unexpected);
            }
            values.push(Some(body.split_to(length)));
        }
        self.rows.push(values);
        Ok(())
    }
}

impl<'a> Row<'a> {
    /// The bytes of a column, or `None` for NULL.
    ///
    /// # Errors
    /// [`ServerFault::Unexpected`] when the answer has no such column.
    pub fn bytes(&self, column: &str) -> Result<Option<&'a Bytes>, ServerFault> {
        let index = self.columns.iter().position(|name| name == column);
        let value = index.and_then(|index| self.values.get(index));
        value.map(Option::as_ref).ok_or(ServerFault::Unexpected)
    }

    /// The text of a column, or `None` for NULL.
    ///
    /// # Errors
    /// [`ServerFault::Unexpected`] when the answer has no such column or it is not UTF-8.
    pub fn text(&self, column: &str) -> Result<Option<&'a str>, ServerFault> {
        let text = self.bytes(column)?.map(|bytes| std::str::from_utf8(bytes));
        text.transpose().map_err(|_| ServerFault::Unexpected)
    }

    /// A column that may be NULL, parsed.
    ///
    /// # Errors
    /// [`ServerFault::Unexpected`] when the answer has no such column or the value does not parse.
    pub fn optional<T: FromStr>(&self, column: &str) -> Result<Option<T>, ServerFault> {
        let parsed = self.text(column)?.map(str::parse);
        parsed.transpose().map_err(|_| ServerFault::Unexpected)
    }

    /// A column that is never NULL, parsed.
    ///
    /// # Errors
    /// [`ServerFault::Unexpected`] when the answer has no such column, the value is NULL or does not parse.
    pub fn required<T: FromStr>(&self, column: &str) -> Result<T, ServerFault> {
        self.optional(column)?.ok_or(ServerFault::Unexpected)
    }

    /// A boolean column that is never NULL: `t` or `f`.
    ///
    /// # Errors
    /// [`ServerFault::Unexpected`] for everything else.
    pub fn flag(&self, column: &str) -> Result<bool, ServerFault> {
        match self.text(column)? {
            Some("t") => Ok(true),
            Some("f") => Ok(false),
            _ => Err(ServerFault::Unexpected),
        }
    }
}

/// Names and a count: values may be secret.
impl fmt::Debug for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowSet")
            .field("columns", &self.columns)
            .field("rows", &self.rows.len())
            .finish()
    }
}

/// Names only: values may be secret.
impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(names: &[&str]) -> Vec<u8> {
        let mut body = u16::try_from(names.len()).unwrap().to_be_bytes().to_vec();
        for name in names {
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(&[0; 19]);
        }
        body
    }

    #[test]
    fn values_are_found_by_name_and_parsed() {
        let mut set = RowSet::described(described(&["b", "version", "none"]).into()).unwrap();
        set.push(Bytes::from_static(
            b"\0\x03\0\0\0\x01t\0\0\0\x06160014\xff\xff\xff\xff",
        ))
        .unwrap();
        let row = set.only().unwrap();
        assert_eq!(row.required::<u32>("version"), Ok(160_014));
        assert_eq!(row.flag("b"), Ok(true));
        assert_eq!(row.optional::<u32>("none"), Ok(None));
        assert_eq!(row.required::<u32>("none"), Err(ServerFault::Unexpected));
        assert_eq!(row.text("absent"), Err(ServerFault::Unexpected));
        assert!(!format!("{set:?}{row:?}").contains("160014"));
    }

    #[test]
    fn a_cut_or_lying_answer_is_refused() {
        let whole = described(&["a", "b"]);
        for cut in 0..whole.len() {
            assert!(
                RowSet::described(Bytes::copy_from_slice(&whole[..cut])).is_err(),
                "{cut}"
            );
        }
        let row = b"\0\x02\0\0\0\x01x\0\0\0\x02yz";
        for cut in 0..row.len() {
            let mut set = RowSet::described(whole.clone().into()).unwrap();
            assert!(
                set.push(Bytes::copy_from_slice(&row[..cut])).is_err(),
                "{cut}"
            );
        }
        for lying in [
            &b"\0\x01\0\0\0\0"[..],
            b"\0\x02\0\0\0\x01x\x7f\xff\xff\xffy",
            b"\0\x02\xff\xff\xff\xfe\0\0\0\0",
        ] {
            let mut set = RowSet::described(whole.clone().into()).unwrap();
            assert!(set.push(Bytes::copy_from_slice(lying)).is_err());
        }
    }
}
