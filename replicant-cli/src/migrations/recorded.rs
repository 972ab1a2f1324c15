//! What did the last run declare? One file beside the migrations, canonical, so that the same state has the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use replicant_sink::ddl::Declared;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::reason::{Mistake, Reason};

/// The format this release writes; it reads those before it, which know no schemas of tenants and no claims.
const VERSION: u32 = 2;

/// The state that the migrations so far lead to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    version: u32,
    /// Of everything else in here, as it is written.
    checksum: String,
    /// The version of the last migration that was written.
    pub(super) last: Option<u64>,
    /// What each pipeline declared, by name.
    pub(super) pipelines: BTreeMap<String, Declared>,
}

/// The part that every format has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Recorded {
    pub(super) fn new(last: Option<u64>, pipelines: BTreeMap<String, Declared>) -> Self {
        Self {
            version: VERSION,
            checksum: String::new(),
            last,
            pipelines,
        }
    }

    /// Reads what [`text`](Self::text) wrote.
    pub(super) fn read(text: &str) -> Result<Self, Mistake> {
        let unreadable = |error: serde_json::Error| {
            // The position only: what the parser quotes may be anything.
            let fact = format!("at line {}, column {}", error.line(), error.column());
            Mistake::new(Reason::SnapshotUnreadable, fact)
        };
        let Versioned { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version > VERSION {
            let fact = format!("format {version}, this release knows {VERSION}");
            return Err(Mistake::new(Reason::SnapshotNewer, fact));
        }
        let recorded: Self = serde_json::from_str(text).map_err(unreadable)?;
        // Line ends are the version control's business.
        if recorded.text()? != text.replace("\r\n", "\n") {
            let fact = "replicant.snapshot.json is not what was written";
            return Err(Mistake::new(Reason::SnapshotEdited, fact));
        }
        Ok(recorded)
    }

    /// The file, with the checksum of what it says.
    pub(super) fn text(&self) -> Result<String, Mistake> {
        let bare = Self {
            checksum: String::new(),
            ..self.clone()
        };
        let sum = digest(&SHA256, bare.json()?.as_bytes());
        let checksum = sum.as_ref().iter().fold(String::new(), |mut text, byte| {
            // Writing into a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Self { checksum, ..bare }.json()
    }

    fn json(&self) -> Result<String, Mistake> {
        match serde_json::to_string_pretty(self) {
            Ok(text) => Ok(text + "\n"),
            Err(_) => {
                let fact = "the state cannot be written as JSON";
                Err(Mistake::new(Reason::SnapshotUnreadable, fact))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Reason {
        Recorded::read(text).expect_err("refused").reason
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let recorded = Recorded::new(Some(7), BTreeMap::new());
        let text = recorded.text().expect("text");
        assert_eq!(Recorded::read(&text).expect("read").last, Some(7));
        assert!(Recorded::read(&text.replace('\n', "\r\n")).is_ok());
        let edited = text.replace(": 7", ": 8");
        assert_eq!(refused(&edited), Reason::SnapshotEdited);
        let spaced = text.replace(": 7", ":  7");
        assert_eq!(refused(&spaced), Reason::SnapshotEdited);
        for unreadable in ["", "{}", "<<<<<<< ours", &text.replace("last", "least")] {
            assert_eq!(refused(unreadable), Reason::SnapshotUnreadable);
        }
        let newer = r#"{"version": 3, "whatever": true}"#;
        assert_eq!(refused(newer), Reason::SnapshotNewer);
        let older = Recorded {
            version: 1,
            ..recorded
        };
        let older = older.text().expect("text");
        assert_eq!(Recorded::read(&older).expect("read").last, Some(7));
    }
}
