//! How are types, operators and privileges written in SQL?

use std::fmt;

use replicant_transport::ident::Ident;
use replicant_transport::source::{PgType, TypeKind};

use super::builtin::oid;
use super::modifiers::{characters, numeric_digits};

/// The base type, schema-qualified and without a modifier: a cast to it never rounds or truncates.
pub(super) fn base_type(ty: &PgType) -> String {
    ty.base_name.quoted().to_string()
}

/// `OPERATOR("schema".=)`. `None` when the text is not an operator name.
pub(super) fn operator(schema: &str, symbol: &str) -> Option<String> {
    let is_operator = !symbol.is_empty()
        && symbol
            .bytes()
            .all(|byte| b"+-*/<>=~!@#%^&|`?".contains(&byte));
    let schema = Ident::new(schema).ok()?;
    is_operator.then(|| format!("OPERATOR({}.{symbol})", schema.quoted()))
}

/// A type as a column definition of it is written: `varchar(20)`, `numeric(12,2)`, `timestamptz(3)`.
///
/// A domain is written as its base type, since the destination need not have the domain.
pub(super) fn column_type(ty: &PgType) -> String {
    ColumnType(ty).to_string()
}

struct ColumnType<'a>(&'a PgType);

impl fmt::Display for ColumnType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = self.0;
        if let Some(element) = ty.element() {
            return write!(f, "{}[]", ColumnType(element));
        }
        if ty.base_name.schema.as_str() != "pg_catalog" || ty.base_oid == oid::CHAR {
            return write!(f, "{}", ty.base_name.quoted());
        }
        f.write_str(ty.base_name.name.as_str())?;
        write_modifier(f, ty.base_oid, ty.modifier)
    }
}

fn write_modifier(f: &mut fmt::Formatter<'_>, element: u32, modifier: i32) -> fmt::Result {
    match element {
        oid::VARCHAR | oid::BPCHAR => match characters(modifier) {
            Some(length) => write!(f, "({length})"),
            None => Ok(()),
        },
        oid::NUMERIC => match numeric_digits(modifier) {
            Some(digits) => write!(f, "({},{})", digits.precision, digits.scale),
            None => Ok(()),
        },
        oid::TIME | oid::TIMETZ | oid::TIMESTAMP | oid::TIMESTAMPTZ | oid::BIT | oid::VARBIT
            if modifier >= 0 =>
        {
            write!(f, "({modifier})")
        }
        _ => Ok(()),
    }
}

/// What kind of type it is, for a message.
pub(super) const fn kind(ty: &PgType) -> &'static str {
    match ty.base_kind {
        TypeKind::Base => "type",
        TypeKind::Composite => "composite type",
        TypeKind::Domain => "domain",
        TypeKind::Enum => "enum",
        TypeKind::Range => "range",
        TypeKind::Multirange => "multirange",
        TypeKind::Pseudo => "pseudo type",
    }
}
