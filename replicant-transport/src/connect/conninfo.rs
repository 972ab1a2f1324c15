//! What a connection string says: a URI or `key=value` pairs, to keywords and values.
//!
//! Source: PostgreSQL documentation, "Connection Strings". A mistake is named by its keyword or place. Nothing is
//! repeated that might be a piece of a password, which is what an unknown keyword often is: `password=a b=c`.

use super::keyword::{self, Values, invalid};
use crate::error::{Error, Site};
use crate::reason::Reason;

/// Parses either form.
pub(super) fn parse(text: &str) -> Result<Values, Error> {
    let uri = ["postgres://", "postgresql://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    match uri {
        Some(rest) => parse_uri(rest),
        None => parse_pairs(text),
    }
}

/// `key = value` pairs separated by white space; values may be quoted with `'` and escaped with a backslash.
fn parse_pairs(text: &str) -> Result<Values, Error> {
    let mut values = Values::default();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest
            .find(|ch: char| ch == '=' || ch.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let (name, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let Some(tail) = tail.trim_start().strip_prefix('=') else {
            return Err(invalid(
                "conninfo",
                "a keyword without =; quote values that hold spaces",
            ));
        };
        let (value, tail) = take_value(tail.trim_start())?;
        let echo = if values.get("password").is_none() {
            Echo::Safe
        } else {
            Echo::MayBeSecret
        };
        assign(&mut values, name, value, echo)?;
        rest = tail.trim_start();
    }
    Ok(values)
}

/// One value, unquoted and unescaped, and what follows it.
fn take_value(text: &str) -> Result<(String, &str), Error> {
    let (quoted, body) = match text.strip_prefix('\'') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let mut value = String::new();
    let mut chars = body.chars();
    loop {
        let before = chars.as_str();
        match chars.next() {
            Some('\\') => value.extend(chars.next()),
            Some('\'') if quoted => return Ok((value, chars.as_str())),
            Some(ch) if !quoted && ch.is_ascii_whitespace() => return Ok((value, before)),
            Some(ch) => value.push(ch),
            None if quoted => {
                return Err(invalid(
                    "conninfo",
                    "a quoted value without its closing quote",
                ));
            }
            None => return Ok((value, "")),
        }
    }
}

/// `[user[:password]@][host[:port][,...]][/dbname][?key=value[&...]]`, after the scheme.
fn parse_uri(text: &str) -> Result<Values, Error> {
    let mut values = Values::default();
    let mut rest = text;
    // As in libpq, the user information ends at the first @ before any slash.
    if let Some(end) = rest
        .find(['@', '/'])
        .filter(|end| rest[*end..].starts_with('@'))
    {
        let (userinfo, tail) = (&rest[..end], &rest[end + 1..]);
        let (user, password) = match userinfo.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (userinfo, None),
        };
        set_decoded(&mut values, "user", user)?;
        if let Some(password) = password {
            set_decoded(&mut values, "password", password)?;
        }
        rest = tail;
    }

    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (hosts, tail) = rest.split_at(end);
    set_hosts(&mut values, hosts)?;

    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    if let Some(database) = path.strip_prefix('/') {
        set_decoded(&mut values, "dbname", database)?;
    }
    // An @ this late means that a password with an unescaped / or ? was cut, so its end may look like a keyword.
    let echo = if tail.contains('@') {
        Echo::MayBeSecret
    } else {
        Echo::Safe
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| invalid("conninfo", "a URI parameter without ="))?;
        if value.contains('=') {
            return Err(invalid("conninfo", "a URI parameter with two =; write %3D"));
        }
        let (name, value) = (decode(name, "conninfo")?, decode(value, "conninfo")?);
        // What JDBC calls ssl=true.
        if name == "ssl" && value == "true" {
            assign(&mut values, "sslmode", "require".to_owned(), echo)?;
        } else {
            assign(&mut values, &name, value, echo)?;
        }
    }
    Ok(values)
}

/// `host:port` pairs become the two comma-separated lists that `host=` and `port=` would hold.
fn set_hosts(values: &mut Values, text: &str) -> Result<(), Error> {
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    for part in text.split(',') {
        let (host, port) = match part.strip_prefix('[') {
            Some(literal) => {
                let (host, tail) = literal
                    .split_once(']')
                    .ok_or_else(|| invalid("host", "[ without ]"))?;
                let port = match tail.strip_prefix(':') {
                    Some(port) => port,
                    None if tail.is_empty() => "",
                    None => return Err(invalid("host", "something other than a port after ]")),
                };
                (host, port)
            }
            None => part.split_once(':').unwrap_or((part, "")),
        };
        hosts.push(decode(host, "host")?);
        ports.push(decode(port, "port")?);
    }
    for (name, list) in [("host", hosts), ("port", ports)] {
        if list.iter().any(|item| !item.is_empty()) {
            assign(values, name, list.join(","), Echo::Safe)?;
        }
    }
    Ok(())
}

fn set_decoded(values: &mut Values, name: &'static str, text: &str) -> Result<(), Error> {
    let value = decode(text, name)?;
    if value.is_empty() {
        return Ok(());
    }
    assign(values, name, value, Echo::Safe)
}

/// Whether an unknown keyword may be repeated in the error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    /// It comes before every secret.
    Safe,
    /// It may be the rest of a password that was not quoted.
    MayBeSecret,
}

/// Assigns a value to a keyword that must exist.
pub(super) fn assign(
    values: &mut Values,
    name: &str,
    value: String,
    echo: Echo,
) -> Result<(), Error> {
    if let Some(keyword) = keyword::find(name) {
        return values.set(keyword, value);
    }
    let printable = name.len() <= 40
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let fact = if echo == Echo::Safe && printable && !name.is_empty() {
        format!("unknown keyword {name}")
    } else {
        "an unknown keyword; quote or percent-encode the value before it".to_owned()
    };
    Err(Error::new(
        Reason::ConfigInvalid,
        Site::option("conninfo").fact(fact),
    ))
}

/// Percent-decodes; `+` is a plus.
fn decode(text: &str, option: &'static str) -> Result<String, Error> {
    let broken = || {
        invalid(
            option,
            "a % that is not followed by two hexadecimal digits of UTF-8, or %00",
        )
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
            return Err(broken());
        };
        match u8::try_from(high * 16 + low) {
            Ok(0) | Err(_) => return Err(broken()),
            Ok(decoded) => bytes.push(decoded),
        }
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(text: &str, expected: &[(&'static str, &str)]) {
        let values = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for (name, value) in expected {
            assert_eq!(values.get(name), Some(*value), "{text}: {name}");
        }
    }

    #[test]
    fn pairs_may_be_spaced_quoted_and_escaped() {
        pairs(
            "host=a port = 5433\tdbname=shop",
            &[("host", "a"), ("port", "5433"), ("dbname", "shop")],
        );
        pairs(
            r"password='it\'s \\ here' user=u",
            &[("password", r"it's \ here"), ("user", "u")],
        );
        pairs(
            r"password=a\ b\'c user=''",
            &[("password", "a b'c"), ("user", "")],
        );
        pairs("user=a user=b", &[("user", "b")]);
        pairs("  ", &[]);
    }

    #[test]
    fn uris_carry_users_passwords_hosts_and_parameters() {
        pairs(
            "postgresql://u%20x:p%20w%40%252F%3A@db.example:5433/sh%2Fop?sslmode=require&application_name=a+b",
            &[
                ("user", "u x"),
                ("password", "p w@%2F:"),
                ("host", "db.example"),
                ("port", "5433"),
                ("dbname", "sh/op"),
                ("sslmode", "require"),
                ("application_name", "a+b"),
            ],
        );
        pairs(
            "postgres://h1:1,h2,[::1]:3/",
            &[("host", "h1,h2,::1"), ("port", "1,,3")],
        );
        pairs(
            "postgres://%2Fvar%2Frun/shop",
            &[("host", "/var/run"), ("dbname", "shop")],
        );
        pairs(
            "postgres:///shop?host=/tmp&ssl=true",
            &[("host", "/tmp"), ("sslmode", "require")],
        );
        pairs("postgres://", &[]);
    }

    #[test]
    fn mistakes_are_named_and_no_value_is_repeated() {
        for text in [
            "host",
            "host=a secretword",
            "password='secretword",
            "password=a secretword=b",
            "sslmodus=secretword",
            "sslcrl=secretword",
            "postgres://u:secretword%zz@h",
            "postgres://u:secret%00word@h",
            "postgres://u:a/b?secretword=1@h",
            "postgres://u:a@b?secretword=1@h",
            "postgres://[::1",
            "postgres://[::1]secretword",
            "postgres://h?secretword",
            "postgres://h?user=a=secretword",
        ] {
            let error = parse(text)
                .err()
                .unwrap_or_else(|| panic!("{text} was accepted"));
            assert_eq!(error.reason, Reason::ConfigInvalid, "{text}");
            let told = format!("{error} {error:?}");
            assert!(!told.contains("secret"), "{text}: {told}");
        }
        assert!(
            parse("sslmodus=x")
                .err()
                .unwrap()
                .to_string()
                .contains("sslmodus")
        );
        assert_eq!(parse("sslcrl=x").err().unwrap().site.option, Some("sslcrl"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC*", scheme in prop::sample::select(vec!["", "postgres://", "host=", "password='"])) {
            let _ = parse(&format!("{scheme}{text}"));
        }

        #[test]
        fn quoting_and_percent_encoding_round_trip(value in "[^\\x00]{1,20}") {
            let quoted = value.replace('\\', "\\\\").replace('\'', "\\'");
            let values = parse(&format!("user=a password='{quoted}' dbname=b")).unwrap();
            prop_assert_eq!(values.get("password"), Some(value.as_str()));
            prop_assert_eq!(values.get("dbname"), Some("b"));

            let encoded: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let values = parse(&format!("postgres://a:{encoded}@h/b")).unwrap();
            prop_assert_eq!(values.get("password"), Some(value.as_str()));
            prop_assert_eq!(values.get("host"), Some("h"));
        }
    }
}
