//! What a connection string means once everything around it is known.
//!
//! Precedence: the string, then a service file, then PG* variables, then defaults; the password file fills a password
//! nobody named. Source: PostgreSQL documentation, "Database Connection Control Functions".

use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::conninfo;
use super::environment::Environment;
use super::host::{Host, hosts};
use super::keyword::{KEYWORDS, Values, invalid};
use super::policy::{
    ChannelBinding, HostOrder, Negotiation, OwnFile, RequireAuth, Roots, SessionAttributes, Sni,
    SslMode, TlsPolicy, Versions,
};
use super::presets::Side;
use super::service;
use super::socket::{Keepalive, Liveness};
use crate::error::Error;

const APPLICATION_NAME: &str = "replicant";
/// libpq waits for ever by default; a pipeline that hangs while connecting looks alive and is not.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// A dead peer is noticed after about a minute rather than the kernel's two hours.
const KEEPALIVE: Keepalive = Keepalive {
    idle: Duration::from_secs(30),
    interval: Duration::from_secs(10),
    count: 3,
};

/// How and as whom to connect. `Debug` shows no password.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    pub(super) hosts: Vec<Host>,
    pub(super) order: HostOrder,
    pub(super) user: String,
    pub(super) database: String,
    /// From the string or its surroundings; the host program's name stands in for it.
    application_name: Option<String>,
    default_application_name: String,
    pub(super) options: Option<String>,
    side: Side,
    settings: Vec<(&'static str, String)>,
    pub(super) timeout: Option<Duration>,
    pub(super) liveness: Liveness,
    pub(super) tls: TlsPolicy,
    pub(super) channel_binding: ChannelBinding,
    pub(super) require_auth: RequireAuth,
    pub(super) attributes: SessionAttributes,
}

impl ConnectOptions {
    /// Reads a URI (`postgres://`, `postgresql://`) or `key=value` pairs, completed from a service file, the PG*
    /// variables, defaults and the password file, in this order of precedence. The settings of
    /// [`ConnectOptions::for_source`] are in force until [`ConnectOptions::for_destination`] replaces them.
    ///
    /// Three defaults differ from libpq: `connect_timeout` is 15 s, idle connections are probed after 30 s, and
    /// `sslmode=verify-full` without a root file trusts the machine's authorities.
    ///
    /// # Errors
    /// `config_invalid` naming the option, `credentials_file_unreadable`.
    pub fn parse(conninfo: &str, environment: &impl Environment) -> Result<Self, Error> {
        let mut values = conninfo::parse(conninfo)?;
        let service = values
            .given("service")
            .map(str::to_owned)
            .or_else(|| environment.variable("PGSERVICE"));
        if let Some(service) = service.filter(|name| !name.is_empty()) {
            values.complete(service::load(&service, environment)?);
        }
        let mut variables = Values::default();
        for keyword in KEYWORDS {
            let value = keyword.variable.and_then(|name| environment.variable(name));
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                variables.set(keyword, value)?;
            }
        }
        values.complete(variables);
        Self::from_values(&values, environment)
    }

    /// The database to connect to.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The role to connect as.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// How the session is named in `pg_stat_activity`.
    pub fn application_name(&self) -> &str {
        self.application_name
            .as_deref()
            .unwrap_or(&self.default_application_name)
    }

    /// Uses this password on every host, whatever the connection string or its surroundings say.
    #[must_use]
    pub fn with_password(mut self, password: &SecretString) -> Self {
        for host in &mut self.hosts {
            host.password = Some(password.clone());
        }
        self
    }

    /// Names the session, unless the connection string or `PGAPPNAME` does.
    #[must_use]
    pub fn with_application_name(mut self, name: &str) -> Self {
        self.default_application_name = name.replace('\0', "");
        self
    }

    /// Sets a run-time parameter for the session, in its startup packet. It wins over the side's own settings, over
    /// `options` and over `ALTER ROLE ... SET`. A parameter the server does not know makes it refuse the session.
    #[must_use]
    pub fn with_setting(mut self, name: &'static str, value: &str) -> Self {
        self.settings
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.settings.push((name, value.replace('\0', "")));
        self
    }

    /// Pins what every source session needs: value formats, and no timeout that would end it.
    #[must_use]
    pub fn for_source(mut self) -> Self {
        self.side = Side::Source;
        self
    }

    /// Pins what a session that writes to the destination needs: the same value formats, durable commits, no row
    /// security, bounded waits, generic plans over keys.
    #[must_use]
    pub fn for_destination(mut self) -> Self {
        self.side = Side::Destination;
        self
    }

    /// The startup packet's run-time parameters, each once.
    pub(super) fn settings(&self) -> Vec<(&str, &str)> {
        let overridden = |name: &str| {
            self.settings
                .iter()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        let mut settings: Vec<(&str, &str)> = Vec::new();
        for (name, value) in self.side.settings().filter(|(name, _)| !overridden(name)) {
            settings.push((name, value));
        }
        for (name, value) in &self.settings {
            settings.push((name, value));
        }
        settings
    }

    fn from_values(values: &Values, environment: &impl Environment) -> Result<Self, Error> {
        let user = match values.given("user") {
            Some(user) => user.to_owned(),
            None => environment
                .user_name()
                .ok_or_else(|| invalid("user", "not given and without a default"))?,
        };
        let database = values.given("dbname").unwrap_or(&user).to_owned();
        let application_name = values
            .given("application_name")
            .or_else(|| values.given("fallback_application_name"));
        let timeout = match seconds(values, "connect_timeout")? {
            None => Some(CONNECT_TIMEOUT),
            Some(timeout) if timeout.is_zero() => None,
            given => given,
        };
        Ok(Self {
            hosts: hosts(values, &user, &database, environment)?,
            order: choice(
                values,
                "load_balance_hosts",
                HostOrder::AsGiven,
                |text| match text {
                    "disable" => Some(HostOrder::AsGiven),
                    "random" => Some(HostOrder::Random),
                    _ => None,
                },
            )?,
            application_name: application_name.map(str::to_owned),
            default_application_name: APPLICATION_NAME.to_owned(),
            options: values.given("options").map(str::to_owned),
            side: Side::Source,
            settings: Vec::new(),
            timeout,
            liveness: liveness(values)?,
            tls: tls_policy(values, environment)?,
            channel_binding: choice(values, "channel_binding", ChannelBinding::Prefer, |text| {
                match text {
                    "disable" => Some(ChannelBinding::Disable),
                    "prefer" => Some(ChannelBinding::Prefer),
                    "require" => Some(ChannelBinding::Require),
                    _ => None,
                }
            })?,
            require_auth: choice(
                values,
                "require_auth",
                RequireAuth::Any,
                RequireAuth::from_keyword,
            )?,
            attributes: choice(
                values,
                "target_session_attrs",
                SessionAttributes::Any,
                |text| match text {
                    "any" => Some(SessionAttributes::Any),
                    "read-write" => Some(SessionAttributes::ReadWrite),
                    "read-only" => Some(SessionAttributes::ReadOnly),
                    "primary" => Some(SessionAttributes::Primary),
                    "standby" => Some(SessionAttributes::Standby),
                    _ => None,
                },
            )?,
            user,
            database,
        })
    }
}

fn tls_policy(values: &Values, environment: &impl Environment) -> Result<TlsPolicy, Error> {
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

fn liveness(values: &Values) -> Result<Liveness, Error> {
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
        user_timeout: number(values, "tcp_user_timeout")?
            .and_then(|millis| positive(Duration::from_millis(u64::from(millis)))),
    })
}

/// One of a closed set of words.
fn choice<T>(
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

fn seconds(values: &Values, name: &'static str) -> Result<Option<Duration>, Error> {
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
