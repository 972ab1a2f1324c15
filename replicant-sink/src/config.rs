//! How options are written down: one TOML table per pipeline, overridden by `REPLICANT_<PIPELINE>_<KEY>`.
//!
//! Unknown keys are refused; only the variables of the process's other pipelines are theirs. No message ever quotes a
//! value, because a connection string may hold a password; a mistake is named by its key, and a syntax error by its line
//! and column.

use std::collections::BTreeMap;
use std::path::PathBuf;

use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use toml::Value;

use crate::error::Error;
use crate::options::{
    Availability, Connection, DestinationConstraints, KEYS, Key, Options, StartMode, Takeover,
};
use crate::reason::Reason;

/// Reads the table of one pipeline from a TOML text; a text without that table changes nothing.
///
/// # Errors
/// `config_invalid` naming the key or the position of a syntax error, `option_not_available` naming the key.
pub fn from_toml(options: &mut Options, pipeline: &str, text: &str) -> Result<(), Error> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |tail| tail.chars().count())
            + 1;
        invalid(format!(
            "the configuration is not TOML at line {line}, column {column}"
        ))
    })?;
    let Some(own) = table.get(pipeline) else {
        return Ok(());
    };
    let Value::Table(own) = own else {
        return Err(invalid(format!("[{pipeline}] must be a table")));
    };
    for (name, value) in own {
        let key = known(name).ok_or_else(|| {
            invalid(format!(
                "[{pipeline}] has an unknown key; known keys: {}",
                names()
            ))
        })?;
        set(options, key, value)?;
    }
    Ok(())
}

/// Applies `REPLICANT_<PIPELINE>_<KEY>` variables.
///
/// Where `others` has `shop_events`, `REPLICANT_SHOP_EVENTS_SOURCE` is no mistake in a variable of `shop`: what begins
/// with the longer prefix of another pipeline is left to that, which refuses it if it is no option. No key ends with
/// another one, so that no variable has two readings.
///
/// # Errors
/// `config_invalid` when a variable with the pipeline's prefix names no option, or its value has the wrong shape.
pub fn from_environment(
    options: &mut Options,
    pipeline: &str,
    others: &[&str],
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(), Error> {
    let prefix = prefix(pipeline);
    let mut own: Vec<(String, String)> = variables
        .into_iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .collect();
    own.sort();
    for (name, value) in own {
        let Some(key) = key_of(&name, &prefix) else {
            if others.iter().any(|other| is_of(&name, other, &prefix)) {
                continue;
            }
            return Err(invalid(format!(
                "a variable {prefix}... names no option; known: {}",
                names()
            )));
        };
        let value = match (key.name, value.parse::<i64>()) {
            ("max_inflight_lag", Ok(number)) => Value::Integer(number),
            ("publication", _) => Value::Array(
                value
                    .split(',')
                    .map(|name| Value::String(name.trim().into()))
                    .collect(),
            ),
            _ => Value::String(value),
        };
        set(options, key, &value)?;
    }
    Ok(())
}

/// The environment variable that sets a key of a pipeline.
pub fn variable(pipeline: &str, key: &str) -> String {
    format!("{}{}", prefix(pipeline), key.to_uppercase())
}

fn prefix(pipeline: &str) -> String {
    format!("REPLICANT_{}_", pipeline.to_uppercase().replace('-', "_"))
}

fn known(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The option of the pipeline with this prefix that a variable sets.
fn key_of(variable: &str, prefix: &str) -> Option<&'static Key> {
    known(&variable.strip_prefix(prefix)?.to_lowercase())
}

/// Is a variable that is no option below `prefix` one of another pipeline, or a mistake for that one to name?
fn is_of(variable: &str, other: &str, own: &str) -> bool {
    let other = prefix(other);
    let is_longer = other.len() > own.len();
    (is_longer && variable.starts_with(&other)) || key_of(variable, &other).is_some()
}

/// Refuses pipelines of one process that the same variables would configure.
///
/// # Errors
/// `config_invalid` naming two of them.
pub fn check_prefixes<'a>(pipelines: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for pipeline in pipelines {
        let variables = prefix(pipeline);
        if let Some(owner) = owners.insert(variables.clone(), pipeline) {
            return Err(invalid(format!(
                "the pipelines `{owner}` and `{pipeline}` would be configured by the same variables {variables}...; \
                 give one of them another name"
            )));
        }
    }
    Ok(())
}

fn names() -> String {
    let now = KEYS
        .iter()
        .filter(|key| key.availability == Availability::Now);
    now.map(|key| key.name).collect::<Vec<_>>().join(", ")
}

fn invalid(fact: String) -> Error {
    Error::new(Reason::ConfigInvalid, Site::none().fact(fact))
}

fn wrong(key: &'static Key) -> Error {
    Error::new(
        Reason::ConfigInvalid,
        Site::option(key.name).fact(format!("expected {}", key.shape)),
    )
}

fn set(options: &mut Options, key: &'static Key, value: &Value) -> Result<(), Error> {
    if key.availability == Availability::NotYet {
        return Err(Error::new(
            Reason::OptionNotAvailable,
            Site::option(key.name),
        ));
    }
    let text = || value.as_str().ok_or_else(|| wrong(key));
    match key.name {
        "source" => connection(&mut options.source).conninfo = text()?.to_owned(),
        "source_password_file" => {
            connection(&mut options.source).password_file = Some(PathBuf::from(text()?));
        }
        "destination" => connection(&mut options.destination).conninfo = text()?.to_owned(),
        "destination_password_file" => {
            connection(&mut options.destination).password_file = Some(PathBuf::from(text()?));
        }
        "publication" => options.publications = publications(key, value)?,
        "source_identity" => {
            options.source_identity = Some(text()?.parse().map_err(|_| wrong(key))?);
        }
        "start" => {
            options.start = Some(match text()? {
                "go_forward" => StartMode::GoForward,
                "full" | "incremental" | "snapshot" => {
                    let site = Site::option(key.name).fact("a snapshot is not available yet");
                    return Err(Error::new(Reason::OptionNotAvailable, site));
                }
                _ => return Err(wrong(key)),
            });
        }
        "key_file" => options.key_file = Some(PathBuf::from(text()?)),
        "takeover" => {
            options.takeover = match text()? {
                "refuse" => Takeover::Refuse,
                "wait" => Takeover::Wait,
                _ => return Err(wrong(key)),
            };
        }
        "destination_constraints" => {
            options.destination_constraints = match text()? {
                "deferred" => DestinationConstraints::Deferred,
                "trusted" => DestinationConstraints::Trusted,
                _ => return Err(wrong(key)),
            };
        }
        "max_inflight_lag" => {
            let bytes = value
                .as_integer()
                .and_then(|bytes| usize::try_from(bytes).ok());
            let bytes = bytes.filter(|bytes| *bytes >= MAX_INFLIGHT_BYTES_MIN);
            options.max_inflight_bytes = Some(bytes.ok_or_else(|| wrong(key))?);
        }
        _ => return Err(wrong(key)),
    }
    Ok(())
}

/// Below this the pipeline would stop reading inside ordinary transactions.
const MAX_INFLIGHT_BYTES_MIN: usize = 1024 * 1024;

fn connection(slot: &mut Option<Connection>) -> &mut Connection {
    slot.get_or_insert_default()
}

fn publications(key: &'static Key, value: &Value) -> Result<Vec<Ident>, Error> {
    let one = |value: &Value| {
        let name = value.as_str().ok_or_else(|| wrong(key))?;
        Ident::new(name).map_err(|_| wrong(key))
    };
    match value {
        Value::Array(list) => list.iter().map(one).collect(),
        single => Ok(vec![one(single)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, Error> {
        let mut options = Options::default();
        from_toml(&mut options, "shop", text).map(|()| options)
    }

    #[test]
    fn a_full_table_sets_every_option() {
        let options = read(
            "[other]\nnonsense = 1\n[shop]\nsource = 'host=a dbname=b'\ndestination = 'host=c'\n\
             publication = ['p', 'q']\nsource_identity = '7431250023019842563/b'\nstart = 'go_forward'\n\
             takeover = 'wait'\ndestination_constraints = 'trusted'\nmax_inflight_lag = 1048576\nsource_password_file = '/x'\n",
        )
        .unwrap();
        assert!(options.complete().is_ok());
        assert_eq!(options.publications.len(), 2);
        assert_eq!(options.takeover, Takeover::Wait);
        assert_eq!(
            options.destination_constraints,
            DestinationConstraints::Trusted
        );
    }

    #[test]
    fn mistakes_are_named_by_key_and_never_quote_a_value() {
        for (text, code, named) in [
            (
                "[shop]\nsorce = 'canary'",
                "config_invalid",
                "known keys: source",
            ),
            ("[shop]\nsource = 4242", "config_invalid", "option source"),
            ("[shop]\nstart = 'canary'", "config_invalid", "option start"),
            (
                "[shop]\nsource_identity = 'canary'",
                "config_invalid",
                "option source_identity",
            ),
            (
                "[shop]\ntakeover = 'canary'",
                "config_invalid",
                "option takeover",
            ),
            (
                "[shop]\nmax_inflight_lag = 12",
                "config_invalid",
                "option max_inflight_lag",
            ),
            (
                "[shop]\nsnapshot = 'canary'",
                "option_not_available",
                "option snapshot",
            ),
            (
                "[shop]\nstart = 'full'",
                "option_not_available",
                "option start",
            ),
            (
                "[shop]\nsource = 'canary",
                "config_invalid",
                "line 2, column",
            ),
            ("shop = 'canary'", "config_invalid", "must be a table"),
        ] {
            let error = read(text).unwrap_err();
            let shown = error.to_string();
            assert_eq!(error.code(), code, "{text}");
            assert!(shown.contains(named), "{shown}");
            assert!(
                !shown.contains("canary") && !shown.contains("4242"),
                "{shown}"
            );
        }
    }

    #[test]
    fn what_is_missing_is_named_in_one_message() {
        let shown = Options::default().complete().unwrap_err().to_string();
        assert!(
            shown.contains("missing: source, destination, publication"),
            "{shown}"
        );
    }

    fn set(name: &str, value: &str) -> (String, String) {
        (format!("REPLICANT_{name}"), value.to_owned())
    }

    #[test]
    fn a_variable_belongs_to_one_pipeline_also_when_a_name_begins_with_another() {
        // Otherwise a variable of one could be read as one of the other.
        for key in KEYS {
            let ends = |other: &Key| key.name.ends_with(&format!("_{}", other.name));
            assert!(!KEYS.iter().any(ends), "{}", key.name);
        }
        let all = ["shop", "shop-events", "shop_source_password"];
        let variables = [
            ("SHOP_SOURCE", "a"),
            ("SHOP_SOURCE_PASSWORD_FILE", "b"),
            ("SHOP_EVENTS_SOURCE", "c"),
            ("SHOP_EVENTS_KEY_FILE", "d"),
            ("SHOP_SOURCE_PASSWORD_SOURCE", "e"),
        ];
        let variables = variables.map(|(name, value)| set(name, value));
        for (pipeline, source, password, keys) in [
            ("shop", "a", Some("b"), None),
            ("shop-events", "c", None, Some("d")),
            ("shop_source_password", "e", None, None),
        ] {
            let mut options = Options::default();
            let others: Vec<&str> = all.into_iter().filter(|name| *name != pipeline).collect();
            from_environment(&mut options, pipeline, &others, variables.clone()).unwrap();
            let connection = options.source.unwrap();
            assert_eq!(connection.conninfo, source);
            assert_eq!(connection.password_file, password.map(PathBuf::from));
            assert_eq!(options.key_file, keys.map(PathBuf::from));
        }
    }

    #[test]
    fn a_mistyped_variable_is_refused_by_the_pipeline_whose_prefix_it_has() {
        let read = |pipeline: &str, others: &[&str], name: &str| {
            let variables = [set(name, "canary")];
            let read = from_environment(&mut Options::default(), pipeline, others, variables);
            read.map_err(|error| error.code())
        };
        for (pipeline, others, name) in [
            ("shop", &[][..], "SHOP_SINK_DESTINATION_CONSTRAINTS"),
            ("shop", &[], "SHOP_SEAL_KEY_FILE"),
            ("shop", &[], "SHOP_EVENTS_SOURCE"),
            ("shop", &["crm", "shop_events"], "SHOP_SEAL_KEY_FILE"),
            ("shop_events", &["shop"], "SHOP_EVENTS_SORCE"),
        ] {
            assert_eq!(
                read(pipeline, others, name),
                Err("config_invalid"),
                "{name}"
            );
        }
        // Not by both.
        assert_eq!(read("shop", &["shop_events"], "SHOP_EVENTS_SORCE"), Ok(()));
    }

    #[test]
    fn pipelines_that_the_same_variables_would_configure_are_refused() {
        assert!(check_prefixes(["shop", "shop_events", "crm"]).is_ok());
        let refused = check_prefixes(["shop-events", "crm", "Shop_Events"]).unwrap_err();
        assert_eq!(refused.code(), "config_invalid");
        let shown = refused.to_string();
        assert!(
            shown.contains("`shop-events` and `Shop_Events`") && shown.contains("another name"),
            "{shown}"
        );
    }

    #[test]
    fn the_environment_overrides_the_file_and_refuses_what_it_does_not_know() {
        let mut options = read("[shop]\nsource = 'host=a'\npublication = 'p'").unwrap();
        let variables = [
            set("SHOP_SOURCE", "host=b"),
            set("SHOP_PUBLICATION", "p, q"),
            set("OTHER_NONSENSE", "1"),
            ("PATH".to_owned(), "/bin".to_owned()),
        ];
        from_environment(&mut options, "shop", &[], variables).unwrap();
        assert_eq!(options.source.as_ref().unwrap().conninfo, "host=b");
        assert_eq!(options.publications.len(), 2);
        let unknown = [set("SHOP_SORCE", "canary")];
        let shown = from_environment(&mut options, "shop", &[], unknown)
            .unwrap_err()
            .to_string();
        assert!(!shown.contains("canary"), "{shown}");
    }
}
