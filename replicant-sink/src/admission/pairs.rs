//! Does a destination type hold every value of a source type, and in which form may the values travel?
//!
//! The table is closed: what is not listed is refused, because most wrong pairs would not fail but silently round,
//! truncate, drop an offset or store a secret in the clear.

use replicant_checkpoint::contract::resource::{Fidelity, Protection};
use replicant_transport::pg_type::{Inside, PgType, TypeKind};

use super::builtin::{is_citext, of_number, oid};
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

/// The lossless pair that two columns form.
///
/// # Errors
/// The innermost part of the types that would lose something.
pub(crate) fn lossless(source: &PgType, target: &PgType) -> Result<Pair, Differs> {
    if source.base_kind == TypeKind::Pseudo || target.base_kind == TypeKind::Pseudo {
        return Err(Differs::here());
    }
    match (&source.inside, &target.inside) {
        (Inside::Elements(from), Inside::Elements(to)) => {
            // Elements of an array are written with the element type's delimiter, which is a semicolon for box.
            if (from.base_oid == oid::BOX) != (to.base_oid == oid::BOX) {
                return Err(Differs::here());
            }
            let pair = lossless(from, to).map_err(|part| part.within("[]"))?;
            return Ok(in_whole(pair));
        }
        // Any value may become text, an array too.
        (Inside::Elements(_), _) if is_unlimited_text(target) => return Ok(Pair::TextOnly),
        (Inside::Elements(_), _) | (_, Inside::Elements(_)) => return Err(Differs::here()),
        _ => {}
    }
    if same_type(source, target) {
        let inside = same_inside(source, target)?;
        return match source.base_oid {
            // Its binary form is scaled by lc_monetary, its text is judged against the destination's setting.
            oid::MONEY => Ok(Pair::TextOnly),
            _ if !wide_enough(source.base_oid, source.modifier, target.modifier) => {
                Err(Differs::here())
            }
            _ => Ok(inside),
        };
    }
    converted(source, target).ok_or_else(Differs::here)
}

/// Would the admitted pair still hold every value if the source column's modifier were this one? A stream announces
/// the current modifier with every relation; numeric and time types would round silently.
pub fn still_fits(column: &Column, source_modifier: i32) -> bool {
    let source = column.source_type.clone().with_modifier(source_modifier);
    holds_anything(column) || lossless(&source, &column.target_type).is_ok()
}

/// Does the destination's column also hold the values of another type, which its source column had before? What a
/// number outside of the server's own types stood for, nobody knows any more; its text is safe in a text column.
pub fn fits_as_text(column: &Column, type_oid: u32, modifier: i32) -> bool {
    let known = of_number(type_oid, modifier);
    holds_anything(column)
        || known.map_or(is_unlimited_text(&column.target_type), |source| {
            lossless(&source, &column.target_type).is_ok()
        })
}

/// A loss is meant, or the value's text is sealed as it is.
fn holds_anything(column: &Column) -> bool {
    column.spec.fidelity == Fidelity::Lossy || column.spec.protection == Protection::Sealed
}

/// Where two types differ: the path from the column to the part that would lose something, `.amount[]` for the elements
/// of an attribute. Empty for the column's own type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Differs(pub(crate) String);

impl Differs {
    fn here() -> Self {
        Self(String::new())
    }

    fn within(self, step: &str) -> Self {
        Self(format!("{step}{}", self.0))
    }
}

/// A composite or an array travels as text as soon as one part of it is not the very same.
fn in_whole(part: Pair) -> Pair {
    match part {
        Pair::Same => Pair::Same,
        Pair::SameBytes | Pair::Widening | Pair::TextOnly => Pair::TextOnly,
    }
}

/// Two types of one name and kind are the same type as far as their definitions agree.
fn same_inside(source: &PgType, target: &PgType) -> Result<Pair, Differs> {
    match (&source.inside, &target.inside) {
        (Inside::Attributes(from), Inside::Attributes(to)) => {
            // The text of a row has values only: another order would be another meaning.
            let mut whole = Pair::Same;
            for (place, (name, ty)) in from.iter().enumerate() {
                let step = format!(".{}", name.as_str());
                match to.get(place) {
                    Some((other, target)) if name == other => {
                        let pair = lossless(ty, target).map_err(|part| part.within(&step))?;
                        if in_whole(pair) == Pair::TextOnly {
                            whole = Pair::TextOnly;
                        }
                    }
                    _ => return Err(Differs(step)),
                }
            }
            match to.get(from.len()) {
                Some((name, _)) => Err(Differs(format!(".{}", name.as_str()))),
                None => Ok(whole),
            }
        }
        (Inside::Bounds(from), Inside::Bounds(to)) => {
            // Reading a range compares and normalises its bounds.
            let pair = lossless(&from.subtype, &to.subtype);
            match pair {
                Ok(Pair::Same) if from.order == to.order => Ok(Pair::Same),
                Ok(_) => Err(Differs(" bounds".to_owned())),
                Err(part) => Err(part.within(" bounds")),
            }
        }
        (Inside::Labels(from), Inside::Labels(to)) => match from.first_missing_in(to) {
            None => Ok(Pair::Same),
            Some(place) => Err(Differs(format!(" label {place}"))),
        },
        (Inside::Nothing, Inside::Nothing) => Ok(Pair::Same),
        _ => Err(Differs::here()),
    }
}

/// Two types: the closed table.
fn converted(source: &PgType, target: &PgType) -> Option<Pair> {
    if is_unlimited_text(target) {
        return Some(match (source.base_kind, source.base_oid) {
            (TypeKind::Enum, _) | (_, oid::TEXT | oid::VARCHAR) => Pair::SameBytes,
            _ => Pair::TextOnly,
        });
    }
    match (source.base_oid, target.base_oid) {
        (oid::INT2, oid::INT4 | oid::INT8) | (oid::INT4, oid::INT8) => Some(Pair::Widening),
        (oid::INT2, oid::NUMERIC) => holds_integer(target.modifier, 5).then_some(Pair::Widening),
        (oid::INT4, oid::NUMERIC) => holds_integer(target.modifier, 10).then_some(Pair::Widening),
        (oid::INT8, oid::NUMERIC) => holds_integer(target.modifier, 19).then_some(Pair::Widening),
        // As text the destination shows what the source shows; a binary cast would append noise digits.
        (oid::FLOAT4, oid::FLOAT8) => Some(Pair::TextOnly),
        // A cast would strip the padding that the text output shows.
        (oid::BPCHAR, oid::VARCHAR) => {
            let (from, to) = (characters(source.modifier)?, characters(target.modifier)?);
            (from <= to).then_some(Pair::TextOnly)
        }
        (oid::JSONB, oid::JSON) => Some(Pair::TextOnly),
        _ if is_citext(target) => is_text_like(source).then_some(Pair::TextOnly),
        _ => None,
    }
}

fn is_text_like(source: &PgType) -> bool {
    source.base_kind == TypeKind::Enum
        || is_citext(source)
        || matches!(
            source.base_oid,
            oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::CHAR
        )
}

fn is_unlimited_text(target: &PgType) -> bool {
    target.base_oid == oid::TEXT || (target.base_oid == oid::VARCHAR && target.modifier == -1)
}

/// Object ids of types made in a database differ between servers, so those are compared by kind and name, and then by
/// what is inside. The schema may differ.
fn same_type(source: &PgType, target: &PgType) -> bool {
    if source.is_built_in() || target.is_built_in() {
        source.base_oid == target.base_oid
    } else {
        source.base_kind == target.base_kind && source.base_name.name == target.base_name.name
    }
}
