//! Does a destination's type modifier hold every value that the source's modifier allows?
//!
//! Encodings: PostgreSQL documentation, "pg_attribute", `atttypmod`, and the types' own input functions. Every rule
//! here was compared with a server in this crate's tests.

use super::builtin::oid;

/// No modifier was given.
const NONE: i32 = -1;
/// Lengths and numeric modifiers are stored with the size of a value header added.
const HEADER: i32 = 4;
/// Fractional seconds kept when no precision is given.
const SECONDS_PRECISION_MAX: i32 = 6;
/// `interval` fields and precision when neither is restricted.
const INTERVAL_FIELDS_ALL: i32 = 0x7FFF;
const INTERVAL_PRECISION_ALL: i32 = 0xFFFF;

/// Total digits and digits after the point; the latter may be negative (PostgreSQL 15 and later).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Digits {
    /// Total number of significant digits.
    pub(crate) precision: i32,
    /// Digits after the decimal point.
    pub(crate) scale: i32,
}

/// Precision and scale of a numeric modifier; `None` when unconstrained.
pub(crate) fn numeric_digits(modifier: i32) -> Option<Digits> {
    (modifier >= HEADER).then(|| {
        let packed = modifier - HEADER;
        // The scale is an 11-bit two's complement number.
        let scale = ((packed & 0x7FF) ^ 0x400) - 0x400;
        Digits {
            precision: (packed >> 16) & 0xFFFF,
            scale,
        }
    })
}

/// Characters a `varchar(n)` or `char(n)` holds; `None` when unlimited.
pub(crate) fn characters(modifier: i32) -> Option<i32> {
    (modifier >= HEADER).then(|| modifier - HEADER)
}

/// Within one type: is the destination's modifier at least as wide as the source's?
pub(crate) fn wide_enough(type_oid: u32, source: i32, target: i32) -> bool {
    if source == target {
        return true;
    }
    match type_oid {
        // Padding and exact lengths: another length is another value.
        oid::BPCHAR | oid::BIT => false,
        oid::VARCHAR | oid::VARBIT => target == NONE || (source != NONE && source <= target),
        oid::NUMERIC => match (numeric_digits(source), numeric_digits(target)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(from), Some(to)) => holds(to, from),
        },
        oid::TIME | oid::TIMETZ | oid::TIMESTAMP | oid::TIMESTAMPTZ => {
            seconds_precision(source) <= seconds_precision(target)
        }
        oid::INTERVAL => interval_holds(target, source),
        _ => target == NONE,
    }
}

/// Does a numeric with this many integer digits fit the modifier?
pub(crate) fn holds_integer(target: i32, integer_digits: i32) -> bool {
    numeric_digits(target).is_none_or(|to| {
        holds(
            to,
            Digits {
                precision: integer_digits,
                scale: 0,
            },
        )
    })
}

fn holds(to: Digits, from: Digits) -> bool {
    to.scale >= from.scale && to.precision - to.scale >= from.precision - from.scale
}

fn seconds_precision(modifier: i32) -> i32 {
    if modifier == NONE {
        SECONDS_PRECISION_MAX
    } else {
        modifier
    }
}

fn interval_holds(target: i32, source: i32) -> bool {
    if target == NONE {
        return true;
    }
    let fields = |modifier: i32| (modifier >> 16) & 0x7FFF;
    let precision = |modifier: i32| match modifier & 0xFFFF {
        INTERVAL_PRECISION_ALL => SECONDS_PRECISION_MAX,
        digits => digits,
    };
    let source_precision = if source == NONE {
        SECONDS_PRECISION_MAX
    } else {
        precision(source)
    };
    let same_fields = source != NONE && fields(source) == fields(target);
    (fields(target) == INTERVAL_FIELDS_ALL || same_fields) && source_precision <= precision(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(precision: i32, scale: i32) -> i32 {
        ((precision << 16) | (scale & 0x7FF)) + HEADER
    }

    #[test]
    fn numeric_modifiers_unpack_with_negative_scales() {
        for (precision, scale) in [(12, 2), (5, 0), (3, -2), (1000, 1000), (1000, -1000)] {
            assert_eq!(
                numeric_digits(numeric(precision, scale)),
                Some(Digits { precision, scale })
            );
        }
        assert_eq!(numeric_digits(-1), None);
    }

    #[test]
    fn a_numeric_fits_when_neither_side_of_the_point_gets_narrower() {
        let fits = |from, to| wide_enough(oid::NUMERIC, from, to);
        assert!(fits(numeric(10, 2), numeric(12, 2)));
        assert!(fits(numeric(10, 2), numeric(12, 4)));
        assert!(fits(numeric(3, -2), numeric(5, 0)));
        assert!(fits(numeric(10, 2), NONE));
        assert!(
            !fits(numeric(10, 2), numeric(11, 4)),
            "one integer digit short"
        );
        assert!(!fits(numeric(10, 2), numeric(12, 1)), "rounds");
        assert!(!fits(NONE, numeric(1000, 500)), "unconstrained source");
        assert!(holds_integer(numeric(19, 0), 19));
        assert!(!holds_integer(numeric(19, 2), 19));
        assert!(holds_integer(NONE, 19));
    }

    #[test]
    fn lengths_and_precisions_only_grow() {
        let cases = [
            (oid::VARCHAR, 14, 24, true),
            (oid::VARCHAR, 24, 14, false),
            (oid::VARCHAR, 14, NONE, true),
            (oid::VARCHAR, NONE, 14, false),
            (oid::BPCHAR, 14, 24, false),
            (oid::BPCHAR, 14, 14, true),
            (oid::BIT, 3, 4, false),
            (oid::VARBIT, 3, 4, true),
            (oid::TIMESTAMP, 3, NONE, true),
            (oid::TIMESTAMP, NONE, 6, true),
            (oid::TIMESTAMP, NONE, 3, false),
            (oid::TIME, 6, 0, false),
            (oid::INTERVAL, NONE, 0x7FFF_0003, false),
            (oid::INTERVAL, 0x7FFF_0003, 0x7FFF_0006, true),
            (oid::INTERVAL, 0x0004_FFFF, 0x0004_FFFF, true),
            (oid::INTERVAL, 0x0004_FFFF, 0x0008_FFFF, false),
            (oid::INTERVAL, 0x0004_FFFF, NONE, true),
        ];
        for (type_oid, source, target, fits) in cases {
            assert_eq!(
                wide_enough(type_oid, source, target),
                fits,
                "{type_oid}: {source} into {target}"
            );
        }
    }
}
