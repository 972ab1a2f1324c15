//! What a connection string means once everything around it is known.
//!
//! Precedence: the string, then a service file, then PG* variables, then defaults; the password file fills a password
//! nobody named. Source: PostgreSQL documentation, "Database Connection Control Functions".

use secrecy::SecretString;
use std::time::Duration;

use super::conninfo;
use super::environment::Environment;
use super::host::{Host, hosts};
use super::interpret::{choice, liveness, seconds, tls_policy};
use super::keyword::{KEYWORDS, Values, invalid};
use super::policy::{ChannelBinding, HostOrder, RequireAuth, SessionAttributes, TlsPolicy};
use super::presets::Side;
use super::service;
use super::socket::Liveness;
use crate::error::Error;

const APPLICATION_NAME: &str = "replicant";
/// libpq waits for ever by default; a pipeline that hangs while connecting looks alive and is not.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

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
    /// Defaults that differ from libpq: `connect_timeout` is 15 s, idle connections are probed after 30 s, and
    /// `sslmode=verify-full` without a root file trusts the machine's authorities. `sslmode=prefer` goes on in
    /// plaintext only when the server declines TLS or has no rule for it, never after a failed TLS handshake. Names are
    /// compared with a certificate's subjectAltName only. As in libpq, `sslmode` does not concern Unix sockets.
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

#[cfg(test)]
mod tests {
    use super::super::environment::{FileAccess, FileLookup};
    use super::super::host::Target;
    use super::super::policy::SslMode;
    use super::*;
    use proptest::prelude::*;
    use secrecy::ExposeSecret;
    use std::path::{Path, PathBuf};

    /// Some variables and a home with a password file and a service file, all in memory.
    struct Memory(&'static [(&'static str, &'static str)]);

    impl Environment for Memory {
        fn variable(&self, name: &str) -> Option<String> {
            let known = self.0.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| (*value).to_owned())
        }

        fn file(&self, path: &Path) -> FileLookup {
            let content: &[u8] = match path.to_str() {
                Some("/etc/me/.pgpass") => b"*:*:*:*:from file\nlocalhost:*:*:*:never\n",
                Some("/etc/me/.pg_service.conf") => b"[s]\nuser=served\nport=7\n",
                _ => return FileLookup::Absent,
            };
            FileLookup::Found {
                content: content.to_vec(),
                access: FileAccess::OwnerOnly,
            }
        }

        fn user_name(&self) -> Option<String> {
            Some("me".to_owned())
        }
    }

    const HOME: Memory = Memory(&[
        ("HOME", "/etc/me"),
        ("PGUSER", "env"),
        ("PGPORT", "9"),
        ("PGAPPNAME", "env"),
    ]);

    #[test]
    fn the_string_beats_the_service_beats_the_variables_beat_defaults() {
        let options = ConnectOptions::parse("service=s port=8 host=h", &HOME).unwrap();
        assert_eq!((options.user(), options.database()), ("served", "served"));
        assert_eq!(options.application_name(), "env");
        assert_eq!(options.hosts[0].port, 8);
        assert_eq!(
            options.hosts[0].password.as_ref().unwrap().expose_secret(),
            "from file"
        );
        assert!(!format!("{options:?}").contains("from file"));

        let bare = ConnectOptions::parse("", &Memory(&[]))
            .unwrap()
            .with_application_name("mine");
        assert_eq!(
            (bare.user(), bare.database(), bare.application_name()),
            ("me", "me", "mine")
        );
        assert_eq!(
            bare.hosts[0].target,
            Target::Unix(PathBuf::from("/var/run/postgresql"))
        );
        assert_eq!(
            (bare.tls.mode, bare.timeout),
            (SslMode::Prefer, Some(CONNECT_TIMEOUT))
        );
        assert!(bare.hosts[0].password.is_none());
    }

    #[test]
    fn lists_of_hosts_addresses_and_ports_are_matched_up() {
        let parse = |text: &str| ConnectOptions::parse(text, &Memory(&[]));
        let hosts = parse("postgres://a:1,[::1]:2,c/").unwrap().hosts;
        let found: Vec<_> = hosts
            .iter()
            .map(|host| (host.target.clone(), host.port))
            .collect();
        let tcp = |name: &str, address: Option<&str>| Target::Tcp {
            name: name.to_owned(),
            address: address.map(|address| address.parse().unwrap()),
        };
        assert_eq!(
            found,
            [
                (tcp("a", None), 1),
                (tcp("::1", Some("::1")), 2),
                (tcp("c", None), 5432)
            ]
        );
        let named = parse("host=db hostaddr=10.0.0.1").unwrap().hosts;
        assert_eq!(named[0].target, tcp("db", Some("10.0.0.1")));
        for (text, option) in [
            ("host=a,b hostaddr=1.1.1.1", "hostaddr"),
            ("host=a,b,c port=1,2", "port"),
            ("host=a port=0", "port"),
            ("host=a port=70000", "port"),
            ("host=@abstract", "host"),
            ("hostaddr=name", "hostaddr"),
        ] {
            assert_eq!(parse(text).unwrap_err().site.option, Some(option), "{text}");
        }
    }

    #[test]
    fn an_option_that_would_mean_less_than_it_says_is_refused_by_name() {
        for (text, option) in [
            ("sslmode=allow", "sslmode"),
            ("sslmode=require sslrootcert=system", "sslrootcert"),
            ("sslnegotiation=direct", "sslnegotiation"),
            (
                "ssl_max_protocol_version=TLSv1.1",
                "ssl_max_protocol_version",
            ),
            (
                "ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2",
                "ssl_max_protocol_version",
            ),
            ("gssencmode=require", "gssencmode"),
            ("sslcrl=x", "sslcrl"),
            ("sslcertmode=require", "sslcertmode"),
            ("requirepeer=x", "requirepeer"),
            ("krbsrvname=x", "krbsrvname"),
            ("client_encoding=latin1", "client_encoding"),
            ("replication=true", "replication"),
            (
                "target_session_attrs=prefer-standby",
                "target_session_attrs",
            ),
            ("channel_binding=maybe", "channel_binding"),
            ("require_auth=md5,!none", "require_auth"),
            ("connect_timeout=soon", "connect_timeout"),
        ] {
            let error = ConnectOptions::parse(text, &Memory(&[])).unwrap_err();
            assert_eq!(error.site.option, Some(option), "{text}");
        }
        let crl = ConnectOptions::parse("", &Memory(&[("PGSSLCRL", "/crl")])).unwrap_err();
        assert_eq!(crl.site.option, Some("sslcrl"));
    }

    #[test]
    fn a_peer_that_acknowledges_nothing_is_given_a_minute_unless_said_otherwise() {
        let timeout = |text: &str| {
            let options = ConnectOptions::parse(text, &Memory(&[])).unwrap();
            options.liveness.user_timeout
        };
        assert_eq!(timeout(""), Some(Duration::from_secs(60)));
        assert_eq!(
            timeout("tcp_user_timeout=5000"),
            Some(Duration::from_secs(5))
        );
        assert_eq!(timeout("tcp_user_timeout=0"), None);
    }

    #[test]
    fn each_parameter_is_sent_once_and_the_last_word_wins() {
        let options = ConnectOptions::parse("", &Memory(&[])).unwrap();
        let options = options
            .with_setting("timezone", "a")
            .with_setting("TimeZone", "b");
        let zones: Vec<_> = options
            .settings()
            .into_iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("timezone"))
            .collect();
        assert_eq!(zones, [("TimeZone", "b")]);
        let names = |options: &ConnectOptions| options.settings().len();
        assert!(names(&options.clone().for_destination()) > names(&options.for_source()));
    }

    proptest! {
        #[test]
        fn no_text_makes_parsing_panic(
            text in "(postgres://)?([a-z]{1,12}|host|port|hostaddr|password|sslmode|service|[=@:/?,%&'\\\\ ]|\\PC){0,40}"
        ) {
            let _ = ConnectOptions::parse(&text, &HOME);
        }
    }
}
