//! Whether a changed type modifier still admits every value it admitted before, unchanged.
//!
//! Modifiers are private to each type; the layouts below were measured on `pg_attribute.atttypmod`. An array has
//! its element type's modifier. What is not listed here is [`ModifierChange::Other`].

/// How a type modifier changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ModifierChange {
    /// Every value that was possible still is, and looks the same.
    Widened,
    /// Values that were possible are not any more.
    Narrowed,
    /// Existing values were rewritten, or nobody here knows.
    Other,
}

use ModifierChange::{Narrowed, Other, Widened};

/// No modifier at all: the type's full range.
const NONE: i32 = -1;
/// `varchar` and `numeric` count a header in.
const HEADER: i32 = 4;

/// Compares two different modifiers of one type.
pub(super) fn classify(type_oid: u32, old: i32, new: i32) -> ModifierChange {
    match type_oid {
        // varchar, varbit: a maximal length; fractional digits of time, timetz, timestamp, timestamptz.
        1043 | 1015 | 1562 | 1563 | 1083 | 1183 | 1266 | 1270 | 1114 | 1115 | 1184 | 1185 => {
            by_limit(limit(old), limit(new))
        }
        1700 | 1231 => numeric(old, new),
        1186 | 1187 => interval(old, new),
        // bpchar and bit hold exactly their length, so another one rewrites what is there.
        _ => Other,
    }
}

/// No limit is the largest.
fn limit(modifier: i32) -> i32 {
    if modifier == NONE { i32::MAX } else { modifier }
}

fn by_limit(old: i32, new: i32) -> ModifierChange {
    match new.cmp(&old) {
        std::cmp::Ordering::Greater => Widened,
        std::cmp::Ordering::Less => Narrowed,
        std::cmp::Ordering::Equal => Other,
    }
}

/// Precision in the high half, scale in the low eleven bits. Another scale rewrites values (1.5 becomes 1.50).
fn numeric(old: i32, new: i32) -> ModifierChange {
    let parts = |modifier: i32| {
        let packed = modifier.checked_sub(HEADER).filter(|packed| *packed >= 0)?;
        let scale = ((packed & 0x7FF) ^ 1024) - 1024;
        Some((packed >> 16, scale))
    };
    match (parts(old), parts(new)) {
        (_, None) if new == NONE => Widened,
        (None, Some(_)) if old == NONE => Narrowed,
        (Some((old, scale)), Some((new, same))) if scale == same => by_limit(old, new),
        (Some((_, old)), Some((_, new))) if new < old => Narrowed,
        _ => Other,
    }
}

/// Field range in the high half (all of them: 0x7FFF), fractional digits in the low one (full: 0xFFFF).
fn interval(old: i32, new: i32) -> ModifierChange {
    let parts = |modifier: i32| match modifier {
        NONE => (0x7FFF, 0xFFFF),
        packed => (packed >> 16, packed & 0xFFFF),
    };
    let ((old_fields, old_digits), (new_fields, new_digits)) = (parts(old), parts(new));
    if old_fields == new_fields {
        by_limit(old_digits, new_digits)
    } else if new_fields == 0x7FFF && new_digits >= old_digits {
        Widened
    } else {
        Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric_of(precision: i32, scale: i32) -> i32 {
        ((precision << 16) | (scale & 0x7FF)) + HEADER
    }

    #[test]
    fn the_layouts_are_those_of_the_server() {
        // select attname, atttypmod from pg_attribute, for numeric(10,2), numeric(5,0), numeric(5,-2).
        assert_eq!(numeric_of(10, 2), 655_366);
        assert_eq!(numeric_of(5, 0), 327_684);
        assert_eq!(numeric_of(5, -2), 329_730);
    }

    #[test]
    fn modifiers_are_compared_by_what_their_type_means() {
        let cases = [
            ("varchar(10) -> (20)", 1043, 14, 24, Widened),
            ("varchar(10) -> varchar", 1043, 14, -1, Widened),
            ("varchar -> varchar(10)", 1043, -1, 14, Narrowed),
            ("varchar(10)[] -> (9)[]", 1015, 14, 13, Narrowed),
            ("char(5) -> char(6) pads", 1042, 9, 10, Other),
            ("bit(5) -> bit(6)", 1560, 5, 6, Other),
            ("varbit(5) -> varbit(6)", 1562, 5, 6, Widened),
            ("timestamp(3) -> timestamp", 1114, 3, -1, Widened),
            ("timestamptz -> timestamptz(0)", 1184, -1, 0, Narrowed),
            (
                "numeric(10,2) -> (12,2)",
                1700,
                numeric_of(10, 2),
                numeric_of(12, 2),
                Widened,
            ),
            (
                "numeric(10,2) -> (9,2)",
                1700,
                numeric_of(10, 2),
                numeric_of(9, 2),
                Narrowed,
            ),
            (
                "numeric(10,2) -> (12,4) rewrites",
                1700,
                numeric_of(10, 2),
                numeric_of(12, 4),
                Other,
            ),
            (
                "numeric(10,2) -> (10,1)",
                1700,
                numeric_of(10, 2),
                numeric_of(10, 1),
                Narrowed,
            ),
            (
                "numeric(5,-2) -> (6,-2)",
                1700,
                numeric_of(5, -2),
                numeric_of(6, -2),
                Widened,
            ),
            (
                "numeric(10,2) -> numeric",
                1700,
                numeric_of(10, 2),
                -1,
                Widened,
            ),
            (
                "numeric -> numeric(10,2)",
                1231,
                -1,
                numeric_of(10, 2),
                Narrowed,
            ),
            ("numeric, nonsense", 1700, i32::MIN, numeric_of(1, 1), Other),
            ("interval(3) -> interval", 1186, 2_147_418_115, -1, Widened),
            ("interval -> interval(3)", 1186, -1, 2_147_418_115, Narrowed),
            (
                "interval day to second -> (2)",
                1186,
                470_351_871,
                470_286_338,
                Narrowed,
            ),
            (
                "interval day to second -> interval",
                1186,
                470_351_871,
                -1,
                Widened,
            ),
            ("interval -> interval year", 1186, -1, 327_679, Other),
            ("an extension's type", 16_500, 3, 4, Other),
        ];
        for (label, type_oid, old, new, expected) in cases {
            assert_eq!(classify(type_oid, old, new), expected, "{label}");
        }
    }
}
