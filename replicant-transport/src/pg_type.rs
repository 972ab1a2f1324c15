//! What a column's type really is: domains resolved to their base; arrays, composites, ranges and enums to what is inside.
//!
//! Object ids mean something in one database only, and a name may stand for different definitions on two servers, so
//! what decides whether values survive is the definition down to the server's own types. Both ends are read with the
//! same query. Source: PostgreSQL documentation, "pg_type", "pg_range", "pg_enum" and "pg_attribute".

mod catalog;

use std::fmt;

pub use catalog::{DomainFacts, TypeLine, Types, types_sql};

use crate::ident::{Ident, QualifiedName};

/// Object ids below are assigned by hand in PostgreSQL's sources and mean the same on every server.
const FIXED_OIDS_END: u32 = 10_000;

/// What kind of type a name stands for (`pg_type.typtype`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TypeKind {
    /// A base type, arrays included.
    Base,
    /// A row type.
    Composite,
    /// A constraint over another type.
    Domain,
    /// Labels.
    Enum,
    /// A range over a base type.
    Range,
    /// Ranges of such a type (PostgreSQL 14 and later).
    Multirange,
    /// A pseudo type; no column has one.
    Pseudo,
}

/// A type as a catalog describes it, domains resolved to their base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PgType {
    /// Object id of the declared type.
    pub oid: u32,
    /// Schema and name of the declared type.
    pub name: QualifiedName,
    /// Kind of the declared type.
    pub kind: TypeKind,
    /// Object id of the type under all domains; equal to `oid` when it is not a domain.
    pub base_oid: u32,
    /// Schema and name of the type under all domains.
    pub base_name: QualifiedName,
    /// Kind of the type under all domains.
    pub base_kind: TypeKind,
    /// What the base type is made of.
    pub inside: Inside,
    /// The column's type modifier, or the domain's when the column has none; -1 when there is none.
    pub modifier: i32,
}

impl PgType {
    /// Is the base type one of the server's own, with the same object id everywhere?
    pub const fn is_built_in(&self) -> bool {
        self.base_oid < FIXED_OIDS_END
    }

    /// The element type, when the base type is a true array.
    pub const fn element(&self) -> Option<&Self> {
        match &self.inside {
            Inside::Elements(element) => Some(element),
            _ => None,
        }
    }

    /// The same type as a column with this modifier has it. A domain's own definition holds its modifier; the stream
    /// announces none for a column of it.
    #[must_use]
    pub fn with_modifier(mut self, modifier: i32) -> Self {
        if self.kind == TypeKind::Domain {
            return self;
        }
        self.modifier = modifier;
        if let Inside::Elements(element) = self.inside {
            self.inside = Inside::Elements(Box::new(element.with_modifier(modifier)));
        }
        self
    }
}

/// What a type is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inside {
    /// Nothing that a catalog tells.
    Nothing,
    /// An array of these.
    Elements(Box<PgType>),
    /// A row of these, in order.
    Attributes(Vec<(Ident, PgType)>),
    /// A range over this order, or several ranges.
    Bounds(Box<Bounds>),
    /// One of these labels.
    Labels(Labels),
}

/// What a range is over, and what may alter its bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Type of the bounds.
    pub subtype: PgType,
    /// Collation, operator class and canonical function, as qualified names.
    pub order: [Option<String>; 3],
}

/// The labels of an enum, in order. They are values, so they are not printed.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Labels(Vec<String>);

impl Labels {
    /// The place, counted from 1, of the first label that the other enum lacks.
    pub fn first_missing_in(&self, other: &Self) -> Option<usize> {
        let missing = self.0.iter().position(|label| !other.0.contains(label));
        missing.map(|place| place + 1)
    }
}

impl FromIterator<String> for Labels {
    fn from_iter<I: IntoIterator<Item = String>>(labels: I) -> Self {
        Self(labels.into_iter().collect())
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} labels", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_compared_and_not_printed() {
        let labels = |labels: &[&str]| labels.iter().map(ToString::to_string).collect::<Labels>();
        let (some, more) = (labels(&["a", "b"]), labels(&["b", "c", "a"]));
        assert_eq!(some.first_missing_in(&more), None);
        assert_eq!(more.first_missing_in(&some), Some(2));
        assert_eq!(format!("{more:?}"), "3 labels");
    }
}
