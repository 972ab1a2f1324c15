//! Which connection keywords exist, and what each is to us: used, already so, or refused by name.
//!
//! Source: PostgreSQL documentation, "Parameter Key Words" and "Environment Variables" of libpq.

use std::collections::BTreeMap;

use crate::error::{Error, Site};
use crate::reason::Reason;

/// A keyword of a connection string.
pub(super) struct Keyword {
    pub(super) name: &'static str,
    /// The environment variable that completes it.
    pub(super) variable: Option<&'static str>,
    support: Support,
}

enum Support {
    Used,
    /// Only these values, because they say what happens here anyway.
    Only(&'static [&'static str]),
    Refused,
}

const fn used(name: &'static str, variable: &'static str) -> Keyword {
    Keyword {
        name,
        variable: Some(variable),
        support: Support::Used,
    }
}

const fn unnamed(name: &'static str) -> Keyword {
    Keyword {
        name,
        variable: None,
        support: Support::Used,
    }
}

const fn only(
    name: &'static str,
    variable: Option<&'static str>,
    values: &'static [&'static str],
) -> Keyword {
    Keyword {
        name,
        variable,
        support: Support::Only(values),
    }
}

/// Refused in a string. Refused from the environment too where ignoring the variable would weaken a check.
const fn refused(name: &'static str, variable: Option<&'static str>) -> Keyword {
    Keyword {
        name,
        variable,
        support: Support::Refused,
    }
}

/// Every keyword of libpq 18.
pub(super) const KEYWORDS: &[Keyword] = &[
    used("host", "PGHOST"),
    used("hostaddr", "PGHOSTADDR"),
    used("port", "PGPORT"),
    used("dbname", "PGDATABASE"),
    used("user", "PGUSER"),
    used("password", "PGPASSWORD"),
    used("passfile", "PGPASSFILE"),
    used("service", "PGSERVICE"),
    used("application_name", "PGAPPNAME"),
    unnamed("fallback_application_name"),
    used("options", "PGOPTIONS"),
    used("connect_timeout", "PGCONNECT_TIMEOUT"),
    used("target_session_attrs", "PGTARGETSESSIONATTRS"),
    used("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    unnamed("keepalives"),
    unnamed("keepalives_idle"),
    unnamed("keepalives_interval"),
    unnamed("keepalives_count"),
    unnamed("tcp_user_timeout"),
    used("sslmode", "PGSSLMODE"),
    used("sslnegotiation", "PGSSLNEGOTIATION"),
    used("sslrootcert", "PGSSLROOTCERT"),
    used("sslcert", "PGSSLCERT"),
    used("sslkey", "PGSSLKEY"),
    used("sslsni", "PGSSLSNI"),
    used("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    used("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    used("channel_binding", "PGCHANNELBINDING"),
    used("require_auth", "PGREQUIREAUTH"),
    only(
        "client_encoding",
        None,
        &["UTF8", "UTF-8", "utf8", "utf-8", "auto"],
    ),
    only("replication", None, &["database"]),
    only("gssencmode", Some("PGGSSENCMODE"), &["disable", "prefer"]),
    only("sslcompression", None, &["0"]),
    only("sslcertmode", Some("PGSSLCERTMODE"), &["allow"]),
    only("min_protocol_version", None, &["3.0"]),
    only("max_protocol_version", None, &["3.0", "latest"]),
    refused("sslcrl", Some("PGSSLCRL")),
    refused("sslcrldir", Some("PGSSLCRLDIR")),
    refused("requirepeer", Some("PGREQUIREPEER")),
    refused("requiressl", Some("PGREQUIRESSL")),
    refused("sslpassword", None),
    refused("sslkeylogfile", None),
    refused("krbsrvname", None),
    refused("gsslib", None),
    refused("gssdelegation", None),
    refused("authtype", None),
    refused("tty", None),
    refused("servicefile", None),
    refused("scram_client_key", None),
    refused("scram_server_key", None),
    refused("oauth_issuer", None),
    refused("oauth_client_id", None),
    refused("oauth_client_secret", None),
    refused("oauth_scope", None),
];

/// Finds a keyword by its exact spelling.
pub(super) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

/// What was said about each keyword. Not printable: one of the values is a password.
#[derive(Default)]
pub(super) struct Values(BTreeMap<&'static str, String>);

impl Values {
    pub(super) fn get(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A value that says something: libpq treats an empty one as absent.
    pub(super) fn given(&self, name: &'static str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// The last value of a keyword within one string wins.
    pub(super) fn set(&mut self, keyword: &'static Keyword, value: String) -> Result<(), Error> {
        let acceptable = match keyword.support {
            Support::Used => true,
            Support::Only(values) => value.is_empty() || values.contains(&value.as_str()),
            Support::Refused => false,
        };
        if !acceptable {
            return Err(invalid(keyword.name, "not supported here; leave it out"));
        }
        if value.contains('\0') {
            return Err(invalid(keyword.name, "a zero byte"));
        }
        self.0.insert(keyword.name, value);
        Ok(())
    }

    /// Adds what a weaker source says about keywords not mentioned so far.
    pub(super) fn complete(&mut self, weaker: Self) {
        for (name, value) in weaker.0 {
            self.0.entry(name).or_insert(value);
        }
    }
}

/// An option that cannot be used, named; its value is never repeated.
pub(super) fn invalid(option: &'static str, fact: &'static str) -> Error {
    Error::new(Reason::ConfigInvalid, Site::option(option).fact(fact))
}
