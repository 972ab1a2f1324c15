//! What a connection string means once everything around it is known.

use std::path::Path;

use crate::error::{Error, Site};
use crate::reason::Reason;

/// Where variables and files are looked up, so that a connection string can be completed without a process.
pub trait Environment {
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// A file's content.
    fn file(&self, path: &Path) -> FileLookup;
    /// The operating system's name of the user running this.
    fn user_name(&self) -> Option<String>;
}

/// What was found at a path.
pub enum FileLookup {
    /// Nothing is there.
    Absent,
    /// Something is there that cannot be read, or is not a regular file.
    Unreadable,
    /// A regular file.
    Found {
        /// Its bytes.
        content: Vec<u8>,
        /// Who else may read it.
        access: FileAccess,
    },
}

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileAccess {
    /// Its owner only.
    OwnerOnly,
    /// Its group or everyone.
    Shared,
}

/// The variables, files and user of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, _path: &Path) -> FileLookup {
        FileLookup::Absent
    }

    fn user_name(&self) -> Option<String> {
        None
    }
}

/// How and as whom to connect. `Debug` shows no password.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    user: String,
    database: String,
    application_name: String,
}

impl ConnectOptions {
    /// Reads a URI (`postgres://`, `postgresql://`) or `key=value` pairs, completed from the PG* variables, a service
    /// file, defaults and the password file, in this order of precedence.
    ///
    /// # Errors
    /// `config_invalid` naming the option, `credentials_file_unreadable`.
    pub fn parse(_conninfo: &str, _environment: &impl Environment) -> Result<Self, Error> {
        Err(Error::new(Reason::ConfigInvalid, Site::option("conninfo")))
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
        &self.application_name
    }

    /// Names the session, unless the connection string already does.
    #[must_use]
    pub fn with_application_name(self, _name: &str) -> Self {
        self
    }

    /// Sets a run-time parameter for the session, in its startup packet; it wins over `options` and over `ALTER ROLE`.
    #[must_use]
    pub fn with_setting(self, _name: &'static str, _value: &str) -> Self {
        self
    }

    /// The settings every source session needs. This is what a parsed string starts with.
    #[must_use]
    pub fn for_source(self) -> Self {
        self
    }

    /// The settings a session that writes to the destination needs.
    #[must_use]
    pub fn for_destination(self) -> Self {
        self
    }
}
