//! How the values that the sink fills in are written: as array elements of a statement, and as fields of a COPY.
//!
//! Source: PostgreSQL documentation, "COPY", File Formats; the binary forms are those of `int8send`,
//! `timestamptz_send`, `boolsend`, `textsend` and `array_send`.

use bytes::{BufMut, BytesMut};

use replicant_checkpoint::contract::resource::Role;

use super::parameter::NotSent;

/// One such value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stamp<'v> {
    Null,
    /// `bigint`.
    Number(i64),
    /// `timestamptz`: microseconds since 2000-01-01 UTC.
    Instant(i64),
    /// `boolean`.
    Flag(bool),
    /// `text`.
    Text(&'v str),
    /// `text[]`, without NULLs.
    Names(Vec<&'v str>),
}

/// Object ids of a built-in type and of the array of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Elements {
    pub(crate) element: u32,
    pub(crate) array: u32,
}

const TEXT: Elements = Elements {
    element: 25,
    array: 1009,
};
pub(crate) const NUMBERS: Elements = Elements {
    element: 20,
    array: 1016,
};

/// The type in which a role's values become array elements. Arrays go as text, because `unnest` would flatten them.
pub(crate) fn elements(role: Role) -> Elements {
    match role {
        Role::ValidFromLsn | Role::ValidToLsn | Role::CommitLsn | Role::Ordinal | Role::Xid => {
            NUMBERS
        }
        Role::ValidFrom | Role::ValidTo | Role::CommitTimestamp => Elements {
            element: 1184,
            array: 1185,
        },
        Role::Current => Elements {
            element: 16,
            array: 1000,
        },
        Role::Attempt | Role::MessageContent | Role::Fingerprint | Role::SeenAttempt => Elements {
            element: 17,
            array: 1001,
        },
        Role::SourceSystem
        | Role::SourceDatabase
        | Role::Slot
        | Role::Operation
        | Role::Origin
        | Role::Unchanged
        | Role::MessagePrefix => TEXT,
    }
}

/// What an element has to be cast to before it is stored.
pub(crate) fn element_cast(role: Role) -> Option<&'static str> {
    (role == Role::Unchanged).then_some("pg_catalog.text[]")
}

impl Stamp<'_> {
    /// Length and bytes, as an array element of [`elements`].
    pub(crate) fn put_element(&self, out: &mut BytesMut) -> Result<(), NotSent> {
        match self {
            Self::Names(names) => put_bytes(literal(names).as_bytes(), out),
            other => other.put_field(out),
        }
    }

    /// Length and bytes, as a field of a binary COPY.
    pub(crate) fn put_field(&self, out: &mut BytesMut) -> Result<(), NotSent> {
        match self {
            Self::Null => out.put_i32(-1),
            Self::Number(value) | Self::Instant(value) => {
                out.put_i32(8);
                out.put_i64(*value);
            }
            Self::Flag(value) => {
                out.put_i32(1);
                out.put_u8(u8::from(*value));
            }
            Self::Text(text) => put_bytes(text.as_bytes(), out)?,
            Self::Names(names) => {
                let mut array = BytesMut::new();
                put_names(names, &mut array)?;
                put_bytes(&array, out)?;
            }
        }
        Ok(())
    }

    /// The value as COPY's text format has it, before escaping; `None` for NULL.
    pub(crate) fn text(&self) -> Option<String> {
        Some(match self {
            Self::Null => return None,
            Self::Number(value) => value.to_string(),
            Self::Instant(micros) => instant(*micros),
            Self::Flag(true) => "t".to_owned(),
            Self::Flag(false) => "f".to_owned(),
            Self::Text(text) => (*text).to_owned(),
            Self::Names(names) => literal(names),
        })
    }
}

fn put_bytes(bytes: &[u8], out: &mut BytesMut) -> Result<(), NotSent> {
    out.put_i32(i32::try_from(bytes.len()).map_err(|_| NotSent)?);
    out.put_slice(bytes);
    Ok(())
}

/// A `text[]` in binary: dimensions, null flag, element type, then length and lower bound, then the elements.
fn put_names(names: &[&str], out: &mut BytesMut) -> Result<(), NotSent> {
    out.put_i32(i32::from(!names.is_empty()));
    out.put_i32(0);
    out.put_u32(TEXT.element);
    if names.is_empty() {
        return Ok(());
    }
    out.put_i32(i32::try_from(names.len()).map_err(|_| NotSent)?);
    out.put_i32(1);
    for name in names {
        put_bytes(name.as_bytes(), out)?;
    }
    Ok(())
}

/// A `text[]` as array input reads it.
fn literal(names: &[&str]) -> String {
    let mut text = String::from("{");
    for (place, name) in names.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push('"');
        for character in name.chars() {
            if matches!(character, '"' | '\\') {
                text.push('\\');
            }
            text.push(character);
        }
        text.push('"');
    }
    text.push('}');
    text
}

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A `timestamptz` as input reads it under every `DateStyle`: a Julian day, a time of day, a zone.
fn instant(micros: i64) -> String {
    let seconds = micros.div_euclid(MICROS_PER_SECOND);
    let fraction = micros.rem_euclid(MICROS_PER_SECOND);
    let days = seconds.div_euclid(SECONDS_PER_DAY);
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    // 2000-01-01 is Julian day 2451545.
    let julian = days + 2_451_545;
    let (hours, minutes, seconds) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("J{julian} {hours:02}:{minutes:02}:{seconds:02}.{fraction:06}+00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(literal(&[]), "{}");
        assert_eq!(literal(&["a", "b\"\\c"]), r#"{"a","b\"\\c"}"#);
    }

    #[test]
    fn instants_are_julian_days() {
        assert_eq!(instant(0), "J2451545 00:00:00.000000+00");
        assert_eq!(instant(-1), "J2451544 23:59:59.999999+00");
    }
}
