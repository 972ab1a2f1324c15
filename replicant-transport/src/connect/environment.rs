//! Where variables, files and the user's name are looked up.
//!
//! A trait, so that a connection string can be completed in a test without touching the process.

use std::path::Path;

/// What surrounds a connection string.
pub trait Environment {
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// What is at a path.
    fn file(&self, path: &Path) -> FileLookup;
    /// The operating system's name of the user running this: the default role.
    fn user_name(&self) -> Option<String>;
}

/// What was found at a path.
pub enum FileLookup {
    /// Nothing.
    Absent,
    /// Something that cannot be read or is not a regular file.
    Unreadable,
    /// A regular file.
    Found {
        /// Its bytes.
        content: Vec<u8>,
        /// Who may read it.
        access: FileAccess,
    },
}

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileAccess {
    /// Its owner only.
    OwnerOnly,
    /// Its group or everyone, too.
    Shared,
}

/// The variables, files and user of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path) -> FileLookup {
        use std::os::unix::fs::PermissionsExt;

        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return FileLookup::Absent;
            }
            Err(_) => return FileLookup::Unreadable,
        };
        if !metadata.is_file() {
            return FileLookup::Unreadable;
        }
        let shared = metadata.permissions().mode() & 0o077 != 0;
        let access = if shared {
            FileAccess::Shared
        } else {
            FileAccess::OwnerOnly
        };
        match std::fs::read(path) {
            Ok(content) => FileLookup::Found { content, access },
            Err(_) => FileLookup::Unreadable,
        }
    }

    fn user_name(&self) -> Option<String> {
        let uid = rustix::process::geteuid().as_raw().to_string();
        let FileLookup::Found { content, .. } = self.file(Path::new("/etc/passwd")) else {
            return self.variable("USER");
        };
        let passwd = String::from_utf8_lossy(&content);
        let entry = passwd
            .lines()
            .find(|line| line.split(':').nth(2) == Some(uid.as_str()));
        let name = entry
            .and_then(|line| line.split(':').next())
            .map(str::to_owned);
        name.or_else(|| self.variable("USER"))
    }
}
