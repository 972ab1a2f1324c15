//! Does a destination type hold every value of a source type, and in which form may the values travel?
//!
//! The table is closed: what is not listed is refused, because most wrong pairs would not fail but silently round,
//! truncate, drop an offset or store a secret in the clear.

use replicant_checkpoint::contract::resource::Fidelity;
use replicant_transport::ident::QualifiedName;
use replicant_transport::source::{PgType, TypeKind};

use super::builtin::{is_citext, oid};
use super::modifiers::{characters, holds_integer, wide_enough};
use crate::generation::Column;

/// A lossless pair, by what the binary form may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pair {
    /// One type: the binary form is what the destination column takes.
    Same,
    /// Two types with one binary form (text and varchar, an enum's label as text).
    SameBytes,
    /// An SQL cast of the value is exact.
    Widening,
    /// Only the text output is exact.
    TextOnly,
}

/// The lossless pair that two columns form, if they do.
pub(crate) fn lossless(source: &PgType, target: &PgType) -> Option<Pair> {
    judge(Side::of(source), Side::of(target), source, target)
}

/// Would the admitted pair still hold every value if the source column's modifier were this one? A stream announces
/// the current modifier with every relation; numeric and time types would round silently.
pub fn still_fits(column: &Column, source_modifier: i32) -> bool {
    let mut source = column.source_type.clone();
    // A domain's own definition holds its modifier; the stream announces none for a column of it.
    if source.kind != TypeKind::Domain {
        source.modifier = source_modifier;
    }
    column.spec.fidelity == Fidelity::Lossy || lossless(&source, &column.target_type).is_some()
}

fn judge(from: Side<'_>, to: Side<'_>, source: &PgType, target: &PgType) -> Option<Pair> {
    if from.kind == TypeKind::Pseudo || to.kind == TypeKind::Pseudo {
        return None;
    }
    if from.is_array != to.is_array {
        // Any value may become text, an array too.
        return (from.is_array && to.is_unlimited_text()).then_some(Pair::TextOnly);
    }
    let pair = element(from, to, source, target)?;
    if from.is_array {
        // Elements of an array are written with the element type's delimiter, which is a semicolon for box.
        let same_delimiter = (from.oid == oid::BOX) == (to.oid == oid::BOX);
        return same_delimiter.then_some(match pair {
            Pair::Same => Pair::Same,
            Pair::SameBytes | Pair::Widening | Pair::TextOnly => Pair::TextOnly,
        });
    }
    Some(pair)
}

fn element(from: Side<'_>, to: Side<'_>, source: &PgType, target: &PgType) -> Option<Pair> {
    if from.same_type(to) {
        return match from.oid {
            // Its binary form is scaled by lc_monetary, its text is judged against the destination's setting.
            oid::MONEY => Some(Pair::TextOnly),
            _ => wide_enough(from.oid, from.modifier, to.modifier).then_some(Pair::Same),
        };
    }
    if to.is_unlimited_text() {
        return Some(match (from.kind, from.oid) {
            (TypeKind::Enum, _) | (_, oid::TEXT | oid::VARCHAR) => Pair::SameBytes,
            _ => Pair::TextOnly,
        });
    }
    match (from.oid, to.oid) {
        (oid::INT2, oid::INT4 | oid::INT8) | (oid::INT4, oid::INT8) => Some(Pair::Widening),
        (oid::INT2, oid::NUMERIC) => holds_integer(to.modifier, 5).then_some(Pair::Widening),
        (oid::INT4, oid::NUMERIC) => holds_integer(to.modifier, 10).then_some(Pair::Widening),
        (oid::INT8, oid::NUMERIC) => holds_integer(to.modifier, 19).then_some(Pair::Widening),
        // As text the destination shows what the source shows; a binary cast would append noise digits.
        (oid::FLOAT4, oid::FLOAT8) => Some(Pair::TextOnly),
        // A cast would strip the padding that the text output shows.
        (oid::BPCHAR, oid::VARCHAR) => {
            let (from, to) = (characters(from.modifier)?, characters(to.modifier)?);
            (from <= to).then_some(Pair::TextOnly)
        }
        (oid::JSONB, oid::JSON) => Some(Pair::TextOnly),
        _ if !from.is_array && is_citext(target) => {
            is_text_like(from, source).then_some(Pair::TextOnly)
        }
        _ => None,
    }
}

fn is_text_like(from: Side<'_>, source: &PgType) -> bool {
    from.kind == TypeKind::Enum
        || is_citext(source)
        || matches!(
            from.oid,
            oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::CHAR
        )
}

/// One side of a pair: a type, or the element type of an array with the array's modifier.
#[derive(Clone, Copy)]
struct Side<'a> {
    oid: u32,
    kind: TypeKind,
    /// Of the type, or of the array type: the catalog facts do not name an element type.
    name: &'a QualifiedName,
    modifier: i32,
    is_array: bool,
}

impl<'a> Side<'a> {
    fn of(ty: &'a PgType) -> Self {
        match ty.element_kind {
            Some(kind) if ty.element_oid != 0 => Self {
                oid: ty.element_oid,
                kind,
                name: &ty.base_name,
                modifier: ty.modifier,
                is_array: true,
            },
            _ => Self {
                oid: ty.base_oid,
                kind: ty.base_kind,
                name: &ty.base_name,
                modifier: ty.modifier,
                is_array: false,
            },
        }
    }

    const fn is_built_in(&self) -> bool {
        self.oid < 16_384
    }

    fn is_unlimited_text(&self) -> bool {
        self.oid == oid::TEXT || (self.oid == oid::VARCHAR && self.modifier == -1)
    }

    /// Object ids of types made in a database differ between servers, so those are compared by kind and name. The
    /// schema may differ: a label, attribute or value that the destination's type lacks is refused when it arrives.
    fn same_type(&self, other: Self) -> bool {
        if self.is_built_in() || other.is_built_in() {
            self.oid == other.oid
        } else {
            self.kind == other.kind && self.name.name == other.name.name
        }
    }
}
