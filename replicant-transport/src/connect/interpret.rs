//! Which words and numbers the options about TLS, liveness and choices accept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Environment;
use super::keyword::{Values, invalid};
use super::policy::{Negotiation, OwnFile, Roots, Sni, SslMode, TlsPolicy, Versions};
use super::socket::{Keepalive, Liveness};
use crate::error::Error;

/// A dead peer is noticed after about a minute rather than the kernel's two hours.
const KEEPALIVE: Keepalive = Keepalive {
    idle: Duration::from_secs(30),
    interval: Duration::from_secs(10),
    count: 3,
};

/// How long sent data may stay unacknowledged. The kernel alone gives up after a quarter of an hour, in which a server
/// that vanished looks like a slow one. The kernel also counts the time in which a living peer accepts no more data.
const USER_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn tls_policy(
    values: &Values,
    environment: &impl Environment,
) -> Result<TlsPolicy, Error> {
    let system = values.given("sslrootcert") == Some("system");
    // As in libpq: trusting every public authority only makes sense together with the name.
    let default = if system {
        SslMode::VerifyFull
    } else {
        SslMode::Prefer
    };
    let mode = choice(values, "sslmode", default, |text| match text {
        "disable" => Some(SslMode::Disable),
        "prefer" => Some(SslMode::Prefer),
        "require" => Some(SslMode::Require),
        "verify-ca" => Some(SslMode::VerifyCa),
        "verify-full" => Some(SslMode::VerifyFull),
        _ => None,
    })?;
    if system && mode != SslMode::VerifyFull {
        return Err(invalid("sslrootcert", "system needs sslmode=verify-full"));
    }
    let negotiation = choice(
        values,
        "sslnegotiation",
        Negotiation::Postgres,
        |text| match text {
            "postgres" => Some(Negotiation::Postgres),
            "direct" => Some(Negotiation::Direct),
            _ => None,
        },
    )?;
    if negotiation == Negotiation::Direct && matches!(mode, SslMode::Disable | SslMode::Prefer) {
        return Err(invalid(
            "sslnegotiation",
            "direct needs sslmode=require or stronger",
        ));
    }
    let home = environment.variable("HOME").filter(|home| !home.is_empty());
    let own = |name: &str| Some(Path::new(home.as_deref()?).join(".postgresql").join(name));
    let file = |keyword: &'static str, name: &str| match values.given(keyword) {
        Some(path) => OwnFile::Named(PathBuf::from(path)),
        None => OwnFile::IfAny(own(name)),
    };
    let roots = match values.given("sslrootcert") {
        Some("system") => Roots::System,
        Some(path) => Roots::File(PathBuf::from(path)),
        None => Roots::FileIfAny(own("root.crt")),
    };
    Ok(TlsPolicy {
        mode,
        negotiation,
        sni: choice(values, "sslsni", Sni::Sent, |text| match text {
            "1" => Some(Sni::Sent),
            "0" => Some(Sni::Withheld),
            _ => None,
        })?,
        roots,
        certificate: file("sslcert", "postgresql.crt"),
        key: file("sslkey", "postgresql.key"),
        versions: tls_versions(values)?,
    })
}

fn tls_versions(values: &Values) -> Result<Versions, Error> {
    let oldest = choice(values, "ssl_min_protocol_version", 12, |text| match text {
        "TLSv1" | "TLSv1.1" | "TLSv1.2" => Some(12),
        "TLSv1.3" => Some(13),
        _ => None,
    })?;
    let newest = choice(values, "ssl_max_protocol_version", 13, |text| match text {
        "TLSv1.2" => Some(12),
        "TLSv1.3" => Some(13),
        _ => None,
    })?;
    match (oldest, newest) {
        (12, 13) => Ok(Versions::From12),
        (12, _) => Ok(Versions::Only12),
        (_, 13) => Ok(Versions::Only13),
        _ => Err(invalid(
            "ssl_max_protocol_version",
            "older than ssl_min_protocol_version",
        )),
    }
}

pub(super) fn liveness(values: &Values) -> Result<Liveness, Error> {
    let positive = |duration: Duration| Some(duration).filter(|duration| !duration.is_zero());
    // Beyond these the kernel refuses the option (tcp(7)).
    let (longest, most) = (Duration::from_secs(32_767), 127);
    let pause = |name, default: Duration| -> Result<Duration, Error> {
        Ok(seconds(values, name)?
            .and_then(positive)
            .unwrap_or(default)
            .min(longest))
    };
    let count = number(values, "keepalives_count")?.filter(|count| *count != 0);
    let keepalive = Keepalive {
        idle: pause("keepalives_idle", KEEPALIVE.idle)?,
        interval: pause("keepalives_interval", KEEPALIVE.interval)?,
        count: count.unwrap_or(KEEPALIVE.count).min(most),
    };
    Ok(Liveness {
        keepalive: (number(values, "keepalives")? != Some(0)).then_some(keepalive),
        user_timeout: match number(values, "tcp_user_timeout")? {
            None => Some(USER_TIMEOUT),
            // As in libpq, zero is the system's own limit.
            Some(millis) => positive(Duration::from_millis(u64::from(millis))),
        },
    })
}

/// One of a closed set of words.
pub(super) fn choice<T>(
    values: &Values,
    name: &'static str,
    default: T,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Error> {
    match values.given(name) {
        None => Ok(default),
        Some(text) => {
            parse(text).ok_or_else(|| invalid(name, "not one of the values supported here"))
        }
    }
}

pub(super) fn seconds(values: &Values, name: &'static str) -> Result<Option<Duration>, Error> {
    Ok(number(values, name)?.map(|seconds| Duration::from_secs(u64::from(seconds))))
}

/// A whole number; libpq takes a negative one as 0.
fn number(values: &Values, name: &'static str) -> Result<Option<u32>, Error> {
    let Some(text) = values.given(name) else {
        return Ok(None);
    };
    let number: i32 = text
        .trim()
        .parse()
        .map_err(|_| invalid(name, "not a whole number"))?;
    Ok(Some(u32::try_from(number).unwrap_or(0)))
}
