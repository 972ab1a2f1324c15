//! Which password the password file holds for a host, port, database and role.
//!
//! Source: PostgreSQL documentation, "The Password File": `host:port:database:user:password`, `*` matches anything,
//! a backslash escapes `:` and itself, the first matching line wins.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::environment::{Environment, FileAccess, FileLookup};
use crate::error::{Error, Site};
use crate::reason::Reason;

/// The password file's lines. Not printable.
pub(super) struct PasswordFile(Vec<u8>);

impl PasswordFile {
    /// Reads the configured file, or `~/.pgpass`. As in libpq a file that others may read is not used.
    pub(super) fn load(
        configured: Option<&str>,
        environment: &impl Environment,
    ) -> Result<Option<Self>, Error> {
        let own = || Some(Path::new(&environment.variable("HOME")?).join(".pgpass"));
        let Some(path) = configured.map(PathBuf::from).or_else(own) else {
            return Ok(None);
        };
        match environment.file(&path) {
            FileLookup::Absent => Ok(None),
            FileLookup::Unreadable => Err(Error::new(
                Reason::CredentialsFileUnreadable,
                Site::option("passfile"),
            )),
            FileLookup::Found {
                access: FileAccess::Shared,
                ..
            } => {
                tracing::warn!(
                    "the password file is not used: others may read it; its mode should be 0600"
                );
                Ok(None)
            }
            FileLookup::Found {
                content,
                access: FileAccess::OwnerOnly,
            } => Ok(Some(Self(content))),
        }
    }

    /// The password of the first line whose four fields match.
    pub(super) fn lookup(&self, wanted: [&str; 4]) -> Option<SecretString> {
        self.0.split(|byte| *byte == b'\n').find_map(|line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.starts_with(b"#") {
                return None;
            }
            let mut rest = line;
            for field in wanted {
                rest = match_field(rest, field.as_bytes())?;
            }
            let (password, _) = unescape(rest, None);
            let password = String::from_utf8(password)
                .ok()
                .filter(|text| !text.is_empty())?;
            Some(SecretString::from(password))
        })
    }
}

/// What follows the first field and its colon, if that field matches.
fn match_field<'a>(line: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    if let Some(rest) = line.strip_prefix(b"*:") {
        return Some(rest);
    }
    let (field, rest) = unescape(line, Some(b':'));
    (field == wanted).then_some(rest?)
}

/// The text up to an unescaped end mark without its escapes, and what follows the mark.
fn unescape(text: &[u8], end: Option<u8>) -> (Vec<u8>, Option<&[u8]>) {
    let mut out = Vec::new();
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match (*byte, tail) {
            (b'\\', [escaped, after @ ..]) => {
                out.push(*escaped);
                rest = after;
            }
            (byte, _) if Some(byte) == end => return (out, Some(tail)),
            (byte, _) => out.push(byte),
        }
    }
    (out, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn the_first_matching_line_wins_and_escapes_are_undone() {
        let file = PasswordFile(
            b"# comment:*:*:*:no\nshort:line\ndb:5432:shop:ann:first\r\n*:*:*:ann:a\\:b\\\\c\n\\:\\:1:5432:*:bob:six\n*:*:*:*:\n".to_vec(),
        );
        let lookup = |wanted| {
            file.lookup(wanted)
                .map(|secret| secret.expose_secret().to_owned())
        };
        assert_eq!(
            lookup(["db", "5432", "shop", "ann"]).as_deref(),
            Some("first")
        );
        assert_eq!(
            lookup(["db", "5433", "shop", "ann"]).as_deref(),
            Some("a:b\\c")
        );
        assert_eq!(lookup(["::1", "5432", "x", "bob"]).as_deref(), Some("six"));
        assert_eq!(lookup(["db", "5432", "shop", "eve"]), None);
    }
}
