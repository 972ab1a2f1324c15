//! Which values does the shop write? Mostly ordinary ones, sometimes those that break careless mirrors.

use fastrand::Rng;

/// A random UUID as text.
pub(super) fn uuid(rng: &mut Rng) -> String {
    let bits = rng.u128(..);
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        bits >> 96,
        (bits >> 80) & 0xffff,
        (bits >> 64) & 0xfff,
        (bits >> 48) & 0xfff,
        bits & 0xffff_ffff_ffff
    )
}

/// A quoted text.
pub(super) fn text(rng: &mut Rng) -> String {
    const PIECES: [&str; 12] = [
        "Ada",
        "Grace",
        "O'Neil",
        "back\\slash",
        "tab\there",
        "line\nbreak",
        "\u{fc}ml\u{e4}ut",
        "\u{1f980}",
        "",
        "null",
        "\\N",
        "{a,\"b\"}",
    ];
    let first = rng.choice(PIECES).unwrap_or_default();
    let second = rng.choice(PIECES).unwrap_or_default();
    quote(&format!("{first} {second}"))
}

/// A text or NULL.
pub(super) fn maybe_text(rng: &mut Rng) -> String {
    if rng.u8(..3) == 0 {
        "null".to_owned()
    } else {
        text(rng)
    }
}

/// A price that fits `numeric(12, 2)`.
pub(super) fn price(rng: &mut Rng) -> String {
    format!("{}.{:02}", rng.u32(..10_000), rng.u8(..100))
}

/// An amount for a `numeric` without limits.
pub(super) fn amount(rng: &mut Rng) -> String {
    const ODD: [&str; 5] = [
        "'NaN'",
        "-0.000000000000000000000000000001",
        "123456789012345678901234567890123456789012345678901234567890.5",
        "1e120",
        "0.50000",
    ];
    if rng.u8(..25) == 0 {
        rng.choice(ODD).unwrap_or("0").to_owned()
    } else {
        price(rng)
    }
}

/// An instant.
pub(super) fn instant(rng: &mut Rng) -> String {
    const ODD: [&str; 4] = [
        "'infinity'",
        "'-infinity'",
        "'0044-03-15 12:00:00+00 BC'",
        "'99999-12-31 23:59:59.999999+00'",
    ];
    if rng.u8(..30) == 0 {
        rng.choice(ODD).unwrap_or("'epoch'").to_owned()
    } else {
        "pg_catalog.clock_timestamp()".to_owned()
    }
}

/// A JSON document; one in ten is so large that it is stored out of line and an update that leaves it alone does
/// not send it.
pub(super) fn document(rng: &mut Rng) -> String {
    let size = if rng.u8(..10) == 0 { 6000 } else { 24 };
    let noise: String = std::iter::repeat_with(|| rng.alphanumeric())
        .take(size)
        .collect();
    quote(&format!(
        "{{\"noise\": \"{noise}\", \"n\": {}, \"odd\": \"\\u00e9 \\\"x\\\"\", \"none\": null}}",
        rng.i64(..)
    ))
}

/// A string literal that does not depend on `standard_conforming_strings`.
pub(super) fn quote(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_survive_quotes_and_backslashes() {
        assert_eq!(quote("a'b\\c"), "E'a''b\\\\c'");
    }

    #[test]
    fn uuids_are_well_formed_and_repeatable() {
        let one = uuid(&mut Rng::with_seed(1));
        assert_eq!(one, uuid(&mut Rng::with_seed(1)));
        assert_ne!(one, uuid(&mut Rng::with_seed(2)));
        let lengths: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
