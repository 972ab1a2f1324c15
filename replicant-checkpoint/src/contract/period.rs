//! How long is a declared period? `"72h"`, `"30d"`: one number, one unit, no zero.

use std::fmt;

/// A length of time in whole seconds, at least one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Period {
    seconds: u64,
}

impl Period {
    /// A period of this many seconds; `None` for zero.
    pub const fn of_seconds(seconds: u64) -> Option<Self> {
        match seconds {
            0 => None,
            seconds => Some(Self { seconds }),
        }
    }

    /// The period written so: digits and one of `s`, `m`, `h`, `d`.
    pub fn parse(text: &str) -> Option<Self> {
        let unit: u64 = match text.chars().last()? {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return None,
        };
        let digits = text.get(..text.len().checked_sub(1)?)?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Self::of_seconds(digits.parse::<u64>().ok()?.checked_mul(unit)?)
    }

    /// In seconds.
    pub const fn seconds(self) -> u64 {
        self.seconds
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, word) in [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m")] {
            if self.seconds.is_multiple_of(unit) {
                return write!(f, "{}{word}", self.seconds / unit);
            }
        }
        write!(f, "{}s", self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_digits_and_a_unit() {
        for (text, seconds) in [
            ("1s", 1),
            ("90m", 5_400),
            ("72h", 259_200),
            ("30d", 2_592_000),
        ] {
            assert_eq!(
                Period::parse(text).map(Period::seconds),
                Some(seconds),
                "{text}"
            );
        }
        for text in [
            "",
            "h",
            "0h",
            "1",
            "-1h",
            "+1h",
            "1 h",
            "1H",
            "1h ",
            "1w",
            "1é",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            assert_eq!(Period::parse(text), None, "{text}");
        }
    }

    #[test]
    fn it_is_printed_in_the_largest_whole_unit() {
        for text in ["1s", "90m", "71h", "3d"] {
            assert_eq!(Period::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Period::parse("72h").unwrap().to_string(), "3d");
    }
}
