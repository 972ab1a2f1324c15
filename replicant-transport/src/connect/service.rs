//! What a named service stands for: a section of a service file.
//!
//! Source: PostgreSQL documentation, "The Connection Service File". The user's file is searched first, then the
//! system's (`PGSYSCONFDIR`, else Debian's directory).

use std::path::{Path, PathBuf};

use super::conninfo::{Echo, assign};
use super::environment::{Environment, FileLookup};
use super::keyword::{Values, invalid};
use crate::error::{Error, Site};
use crate::reason::Reason;

const SYSTEM_DIRECTORY: &str = "/etc/postgresql-common";

/// The keywords of this service.
pub(super) fn load(name: &str, environment: &impl Environment) -> Result<Values, Error> {
    let own = environment.variable("PGSERVICEFILE").map(PathBuf::from);
    let own =
        own.or_else(|| Some(Path::new(&environment.variable("HOME")?).join(".pg_service.conf")));
    let system = environment
        .variable("PGSYSCONFDIR")
        .unwrap_or_else(|| SYSTEM_DIRECTORY.to_owned());
    let system = Path::new(&system).join("pg_service.conf");
    for path in own.into_iter().chain([system]) {
        let content = match environment.file(&path) {
            FileLookup::Absent => continue,
            FileLookup::Unreadable => {
                return Err(Error::new(
                    Reason::CredentialsFileUnreadable,
                    Site::option("service"),
                ));
            }
            FileLookup::Found { content, .. } => content,
        };
        let text = String::from_utf8(content)
            .map_err(|_| invalid("service", "the service file is not UTF-8"))?;
        if let Some(values) = section(&text, name)? {
            return Ok(values);
        }
    }
    Err(invalid("service", "no service file defines this service"))
}

/// The pairs below `[name]`, if there is such a section.
fn section(text: &str, name: &str) -> Result<Option<Values>, Error> {
    let mut found: Option<Values> = None;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            if header.strip_suffix(']') == Some(name) {
                found = Some(Values::default());
            }
            continue;
        }
        let Some(values) = &mut found else { continue };
        let (key, value) = line
            .split_once('=')
            .ok_or_else(|| invalid("service", "a line that is not key=value"))?;
        if key.trim_end() == "service" {
            return Err(invalid("service", "a service inside a service"));
        }
        assign(
            values,
            key.trim_end(),
            value.trim_start().to_owned(),
            Echo::Safe,
        )?;
    }
    Ok(found)
}
