//! Which position is which: three roles of a WAL location, three types, no conversions between them.
//!
//! PostgreSQL writes every location as one 64-bit number, and the two ends of a commit record differ by a few
//! bytes. Comparing a start with an end loses or repeats a transaction: back-to-back commits give
//! `commit_lsn(T2) == end_lsn(T1)`, and a slot's consistent point can equal the `commit_lsn` of a transaction it
//! will still stream. So:
//!
//! - [`CommitLsn`] is the START of a commit record. Only it is ever compared with a [`Watermark`].
//! - [`EndLsn`] is the first byte AFTER something: a commit record's end, a slot's confirmed flush or consistent
//!   point. Only it is ever acknowledged.
//! - [`WalEnd`] is how far the server says its WAL reaches. It is advice until a sink made it durable.
//!
//! Source: PostgreSQL documentation, "Streaming Replication Protocol" and "Logical Streaming Replication
//! Protocol"; `pg_lsn` type.

use std::fmt;
use std::str::FromStr;

/// A raw write-ahead-log location: 64 bits, printed as `hi/lo` in hexadecimal.
///
/// An `Lsn` says nothing about its role; it exists to be parsed, printed and stored. Wrap it in a role to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lsn(u64);

impl Lsn {
    /// The location with this 64-bit value.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The 64-bit value.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The value as PostgreSQL `bigint`, the type every stored location has.
    ///
    /// `None` at or above 2^63, which a server reaches after writing eight exbibytes of WAL.
    pub fn to_bigint(self) -> Option<i64> {
        i64::try_from(self.0).ok()
    }

    /// The location stored as this `bigint`; `None` when negative.
    pub fn from_bigint(value: i64) -> Option<Self> {
        u64::try_from(value).ok().map(Self)
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 & 0xFFFF_FFFF)
    }
}

impl fmt::Debug for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text was not a WAL location of the form `16/B374D848`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnLsn;

impl fmt::Display for NotAnLsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a WAL location; expected two hexadecimal numbers such as 16/B374D848")
    }
}

impl std::error::Error for NotAnLsn {}

impl FromStr for Lsn {
    type Err = NotAnLsn;

    fn from_str(text: &str) -> Result<Self, NotAnLsn> {
        let (high, low) = text.split_once('/').ok_or(NotAnLsn)?;
        Ok(Self((half(high)? << 32) | half(low)?))
    }
}

/// One to eight hexadecimal digits; a sign or whitespace, which integer parsing would accept, is refused.
fn half(text: &str) -> Result<u64, NotAnLsn> {
    if !(1..=8).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(NotAnLsn);
    }
    u64::from_str_radix(text, 16).map_err(|_| NotAnLsn)
}

macro_rules! role {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Lsn);

        impl $name {
            /// Gives a raw location this role. The caller vouches that the server reported it in this role.
            pub const fn new(lsn: Lsn) -> Self {
                Self(lsn)
            }

            /// The raw location, for printing and storing.
            pub const fn lsn(self) -> Lsn {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

role! {
    /// The START of a commit record: the order key of a transaction and the only position a [`Watermark`] covers.
    ///
    /// pgoutput sends it as `final_lsn` of Begin and as the commit location of Commit.
    CommitLsn
}
role! {
    /// An END position: the first byte after a commit record, a slot's `confirmed_flush_lsn`, or its consistent
    /// point. It means "the next byte wanted": everything that starts before it has been seen.
    EndLsn
}
role! {
    /// How far the server's WAL reaches (`wal_end` of a keepalive, `xlogpos` of IDENTIFY_SYSTEM).
    WalEnd
}
role! {
    /// The END of a standalone logical message's record. It can equal the `commit_lsn` of the transaction that
    /// emitted it, so its identity is one less; see [`Watermark::before`].
    MessageLsn
}

mod sealed {
    pub trait Sealed {}
}

/// A position that lies at the END of something, so that the transaction starting exactly there is still to come.
pub trait EndPosition: sealed::Sealed + Copy {
    /// The raw location.
    fn location(self) -> Lsn;
}

macro_rules! end_position {
    ($($name:ident),*) => {$(
        impl sealed::Sealed for $name {}
        impl EndPosition for $name {
            fn location(self) -> Lsn {
                self.0
            }
        }
    )*};
}
end_position!(EndLsn, WalEnd, MessageLsn);

/// What is applied: every source transaction whose commit record starts at or before it has taken effect.
///
/// It answers a closed set of questions and offers no other comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Watermark(Lsn);

impl Watermark {
    /// The watermark after the transaction with this commit record took effect.
    pub const fn at(commit_lsn: CommitLsn) -> Self {
        Self(commit_lsn.0)
    }

    /// The watermark just before an END position: the minus-one handoff.
    ///
    /// Records are 8-byte aligned, so the result names no record, and a transaction whose commit record starts
    /// exactly at `position` is not covered.
    pub fn before(position: impl EndPosition) -> Self {
        Self(Lsn(position.location().0.saturating_sub(1)))
    }

    /// The watermark stored as this location.
    pub const fn stored(lsn: Lsn) -> Self {
        Self(lsn)
    }

    /// Has the transaction with this commit record taken effect already?
    pub fn covers(self, commit_lsn: CommitLsn) -> bool {
        commit_lsn.0 <= self.0
    }

    /// Is the watermark ahead of everything the source has ever written? Then the source was restored from a
    /// backup or is another server.
    pub fn is_beyond(self, wal_end: WalEnd) -> bool {
        self.0 > wal_end.0
    }

    /// Did the stream already move past this snapshot handoff?
    pub fn is_past(self, handoff: Handoff) -> bool {
        self.0 > handoff.0.0
    }

    /// The later of two watermarks.
    pub fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// The raw location, for printing and storing.
    pub const fn lsn(self) -> Lsn {
        self.0
    }
}

impl fmt::Display for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watermark({})", self.0)
    }
}

/// Where a snapshot hands over to the stream: one less than the slot's consistent point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Handoff(Watermark);

impl Handoff {
    /// The handoff of a snapshot taken at this consistent point.
    pub fn of(consistent_point: EndLsn) -> Self {
        Self(Watermark::before(consistent_point))
    }

    /// The watermark a completed snapshot leaves behind.
    pub const fn watermark(self) -> Watermark {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints_like_the_server() {
        for (text, value) in [
            ("0/0", 0),
            ("0/FFFFFFFF", 0xFFFF_FFFF),
            ("1/0", 1 << 32),
            ("16/B374D848", 0x16_B374_D848),
            ("FFFFFFFF/FFFFFFFF", u64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Lsn::new(value)));
            assert_eq!(Lsn::new(value).to_string(), text);
        }
        for text in [
            "",
            "0",
            "/",
            "0/",
            "/0",
            "0/0/0",
            "0/-1",
            "+1/0",
            " 1/0",
            "0/123456789",
            "g/0",
        ] {
            assert_eq!(text.parse::<Lsn>(), Err(NotAnLsn), "{text:?}");
        }
    }

    #[test]
    fn the_transaction_that_starts_at_an_end_position_is_not_covered() {
        let end = EndLsn::new(Lsn::new(0x1D8_1B28));
        let next = CommitLsn::new(Lsn::new(0x1D8_1B28));
        assert!(!Watermark::before(end).covers(next));
        assert!(Watermark::at(next).covers(next));
        assert!(Watermark::before(EndLsn::new(Lsn::new(0x1D8_1B30))).covers(next));
    }

    #[test]
    fn beyond_means_strictly_ahead_of_the_source() {
        let mark = Watermark::at(CommitLsn::new(Lsn::new(100)));
        assert!(!mark.is_beyond(WalEnd::new(Lsn::new(100))));
        assert!(mark.is_beyond(WalEnd::new(Lsn::new(99))));
        let handoff = Handoff::of(EndLsn::new(Lsn::new(101)));
        assert!(!mark.is_past(handoff));
        assert!(mark.is_past(Handoff::of(EndLsn::new(Lsn::new(100)))));
    }

    #[test]
    fn bigint_is_lossless_below_two_to_the_sixty_third() {
        assert_eq!(
            Lsn::from_bigint(i64::MAX).and_then(Lsn::to_bigint),
            Some(i64::MAX)
        );
        assert_eq!(Lsn::new(1 << 63).to_bigint(), None);
        assert_eq!(Lsn::from_bigint(-1), None);
    }
}
