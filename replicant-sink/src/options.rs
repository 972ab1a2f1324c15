//! What a pipeline can be told: typed options, each with the key it has in TOML and in the environment.

use std::path::PathBuf;

use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::source::ExpectedSource;

pub use crate::admission::DestinationConstraints;
use crate::error::Error;
use crate::reason::Reason;

/// Where a mirror starts when its checkpoint is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum StartMode {
    /// From now on: rows that exist already are not copied.
    GoForward,
}

/// What a start does when another process runs the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Takeover {
    /// It is refused, once the other process gave a sign of life.
    #[default]
    Refuse,
    /// It stands by, and takes over when the other process ends or loses the destination.
    Wait,
}

/// A connection string and, separately, where its password is read from.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Connection {
    /// URI or `key=value` connection string. It may hold a password, so it never prints.
    pub conninfo: String,
    /// A file whose first line is the password.
    pub password_file: Option<PathBuf>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection(..)")
    }
}

/// Everything a pipeline can be told. `None` and empty mean "not said".
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The source.
    pub source: Option<Connection>,
    /// The destination.
    pub destination: Option<Connection>,
    /// Publications to read, in order.
    pub publications: Vec<Ident>,
    /// Which cluster and database the source must be.
    pub source_identity: Option<ExpectedSource>,
    /// Where to start.
    pub start: Option<StartMode>,
    /// The file that holds the keys of sealed columns.
    pub key_file: Option<PathBuf>,
    /// What a start does when another process runs the pipeline.
    pub takeover: Takeover,
    /// How destination constraints are handled.
    pub destination_constraints: DestinationConstraints,
    /// Bytes that may be received and not yet handed to delivery before reading pauses.
    pub max_inflight_bytes: Option<usize>,
}

/// One option as written down: for configuration files, the environment and the documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// The key in TOML; upper-cased and prefixed in the environment.
    pub name: &'static str,
    /// What may be written.
    pub shape: &'static str,
    /// What holds when it is not written.
    pub default: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Whether this release has it.
    pub availability: Availability,
}

/// Whether this release has an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Availability {
    /// It works.
    Now,
    /// It is refused by name.
    NotYet,
}

const fn key(
    name: &'static str,
    shape: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key {
        name,
        shape,
        default,
        doc,
        availability: Availability::Now,
    }
}

const fn later(name: &'static str, doc: &'static str) -> Key {
    Key {
        name,
        shape: "-",
        default: "-",
        doc,
        availability: Availability::NotYet,
    }
}

/// Every option, in the order of the documentation.
pub const KEYS: &[Key] = &[
    key(
        "source",
        "connection string",
        "required",
        "Where the source is.",
    ),
    key(
        "source_password_file",
        "path",
        "none",
        "File that holds the source password.",
    ),
    key(
        "destination",
        "connection string",
        "required",
        "Where the destination is.",
    ),
    key(
        "destination_password_file",
        "path",
        "none",
        "File that holds the destination password.",
    ),
    key(
        "publication",
        "name, or list of names",
        "required",
        "Publications to read.",
    ),
    key(
        "source_identity",
        "<system identifier>/<database>",
        "required",
        "Which source it must be; `preflight` prints the line to paste.",
    ),
    key(
        "start",
        "go_forward",
        "required",
        "Where a new mirror starts.",
    ),
    key(
        "key_file",
        "path",
        "none",
        "File that holds the keys of sealed columns: a name, `=` and 64 hexadecimal digits each, the oldest first; the last one seals.",
    ),
    key(
        "takeover",
        "refuse | wait",
        "refuse",
        "Whether a start is refused while another process runs the pipeline, or stands by for its end.",
    ),
    key(
        "destination_constraints",
        "deferred | trusted",
        "deferred",
        "Whether the destination checks foreign keys at commit, or trusts the source to have done so.",
    ),
    key(
        "max_inflight_lag",
        "bytes",
        "67108864",
        "Bytes received and not yet handed to delivery before reading from the source pauses; what delivery holds is bounded by its own groups.",
    ),
    later("snapshot", "Copy existing rows first."),
    later(
        "streaming",
        "Receive large transactions before they commit.",
    ),
    later("failover", "Create the slot as a failover slot."),
    later("decoder", "Read through another output plugin."),
    later("replication_sets", "Table sets of the pglogical decoder."),
    later("tables", "Tables of the wal2json decoder."),
    later("census", "Repeat the admission checks on a schedule."),
    later("two_phase", "Decode prepared transactions at PREPARE."),
    later(
        "max_command_retries",
        "Bound the retries of start commands.",
    ),
];

impl Options {
    /// Keys without which nothing can be asked, and that were not given.
    pub fn missing(&self) -> Vec<&'static str> {
        [
            ("source", self.source.is_none()),
            ("destination", self.destination.is_none()),
            ("publication", self.publications.is_empty()),
        ]
        .into_iter()
        .filter_map(|(name, is_missing)| is_missing.then_some(name))
        .collect()
    }

    /// The two connections and that there is something to read.
    ///
    /// # Errors
    /// `config_invalid` naming every missing key.
    pub fn connections(&self) -> Result<(&Connection, &Connection), Error> {
        let missing = self.missing();
        match (&self.source, &self.destination) {
            (Some(source), Some(destination)) if missing.is_empty() => Ok((source, destination)),
            _ => {
                let fact = format!("missing: {}", missing.join(", "));
                Err(Error::new(Reason::ConfigInvalid, Site::none().fact(fact)))
            }
        }
    }

    /// Everything a start needs.
    ///
    /// # Errors
    /// `config_invalid` naming every missing key, `source_identity_required`, or `start_mode_required`.
    pub fn complete(&self) -> Result<Complete<'_>, Error> {
        self.connections()?;
        let source_identity = self.source_identity.as_ref().ok_or_else(|| {
            Error::new(
                Reason::SourceIdentityRequired,
                Site::option("source_identity"),
            )
        })?;
        let start = self
            .start
            .ok_or_else(|| Error::new(Reason::StartModeRequired, Site::option("start")))?;
        Ok(Complete {
            source_identity,
            start,
        })
    }
}

/// What has no default, all present.
#[derive(Clone, Copy, Debug)]
pub struct Complete<'a> {
    /// Which source it must be.
    pub source_identity: &'a ExpectedSource,
    /// Where to start.
    pub start: StartMode,
}
