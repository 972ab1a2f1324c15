//! Which table, column or constraint is a server's error about? Only names that were known before can be the answer.
//!
//! Source: PostgreSQL documentation, "Error and Notice Message Fields": the fields for schema, table, column and
//! constraint hold names of the catalog. They still are the server's words, so nothing here prints them or hands them
//! out: they are compared with what the caller knows, and the caller's own name is the answer.

use std::fmt;

use crate::ident::{Ident, QualifiedName};

/// Names that an error claims to concern.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Claims {
    schema: Option<Box<str>>,
    table: Option<Box<str>>,
    column: Option<Box<str>>,
    constraint: Option<Box<str>>,
}

impl Claims {
    /// What a client error claims; nothing when the server did not send it.
    pub fn of(error: &tokio_postgres::Error) -> Self {
        let Some(error) = error.as_db_error() else {
            return Self::default();
        };
        let keep = |name: Option<&str>| name.map(Box::from);
        Self {
            schema: keep(error.schema()),
            table: keep(error.table()),
            column: keep(error.column()),
            constraint: keep(error.constraint()),
        }
    }

    /// The table, if it is one of these.
    pub fn table_among<'k>(
        &self,
        known: impl IntoIterator<Item = &'k QualifiedName>,
    ) -> Option<&'k QualifiedName> {
        known.into_iter().find(|name| {
            self.schema.as_deref() == Some(name.schema.as_str())
                && self.table.as_deref() == Some(name.name.as_str())
        })
    }

    /// The column, if it is one of these.
    pub fn column_among<'k>(
        &self,
        known: impl IntoIterator<Item = &'k Ident>,
    ) -> Option<&'k Ident> {
        among(self.column.as_deref(), known)
    }

    /// The constraint or unique index, if it is one of these.
    pub fn constraint_among<'k>(
        &self,
        known: impl IntoIterator<Item = &'k Ident>,
    ) -> Option<&'k Ident> {
        among(self.constraint.as_deref(), known)
    }
}

fn among<'k>(
    claimed: Option<&str>,
    known: impl IntoIterator<Item = &'k Ident>,
) -> Option<&'k Ident> {
    known
        .into_iter()
        .find(|name| claimed == Some(name.as_str()))
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claims")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_name_is_an_answer_and_none_is_printed() {
        let claims = Claims {
            schema: Some("public".into()),
            table: Some("t".into()),
            column: Some("secret".into()),
            constraint: Some("t_pkey".into()),
        };
        let ident = |name| Ident::new(name).unwrap();
        let table = |schema, name| QualifiedName::new(schema, name).unwrap();
        let known = [table("other", "t"), table("public", "t")];
        assert_eq!(claims.table_among(&known), known.get(1));
        assert_eq!(claims.column_among(&[ident("id")]), None);
        let constraint = ident("t_pkey");
        assert_eq!(claims.constraint_among([&constraint]), Some(&constraint));
        assert!(!format!("{claims:?}").contains("secret"));
        assert_eq!(Claims::default().table_among(&known), None);
    }
}
