//! How do the files get into the directory, whole or not at all?
//!
//! Every file is written beside its place and synchronised, then all are renamed: the way down, the way up, the
//! snapshot. A run that ended between two renames left a migration the snapshot does not know; the next run finds
//! its own text in it and completes the snapshot instead of writing it twice.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use replicant_sink::ddl::Declared;

use super::reason::{Mistake, Reason};
use super::recorded::Recorded;

/// The file that records what is declared.
const SNAPSHOT: &str = "replicant.snapshot.json";

/// A directory of migrations, which need not exist yet.
pub(super) struct Directory {
    path: PathBuf,
    /// The versions of the migrations in it, sorted, with the path of each way up.
    migrations: BTreeMap<u64, PathBuf>,
}

/// Is it a name that sqlx and every file system take?
pub(super) fn check_name(name: &str) -> Result<(), Mistake> {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    if !name.is_empty() && name.len() <= 100 && name.bytes().all(plain) {
        return Ok(());
    }
    Err(Mistake::new(Reason::Name, "--name is no such name"))
}

impl Directory {
    /// Reads which migrations there are.
    pub(super) fn open(path: &Path) -> Result<Self, Mistake> {
        let mut migrations = BTreeMap::new();
        match fs::read_dir(path) {
            Ok(entries) => {
                for entry in entries {
                    let file = entry.map_err(|error| failed(path, &error))?.path();
                    if let Some(version) = version(&file) {
                        migrations.insert(version, file);
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(path, &error)),
        }
        Ok(Self {
            path: path.to_owned(),
            migrations,
        })
    }

    /// What the last run recorded; nothing before the first one.
    pub(super) fn recorded(&self) -> Result<Recorded, Mistake> {
        let path = self.path.join(SNAPSHOT);
        match fs::read(&path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Recorded::read(&text),
                Err(_) => {
                    let fact = "it is not UTF-8";
                    Err(Mistake::new(Reason::SnapshotUnreadable, fact))
                }
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Recorded::default()),
            Err(error) => {
                let fact = format!("{}: {}", path.display(), error.kind());
                Err(Mistake::new(Reason::SnapshotUnreadable, fact))
            }
        }
    }

    /// Writes a migration, if there is one, and the snapshot. Returns the paths that were written.
    pub(super) fn write(
        &self,
        name: &str,
        now: SystemTime,
        migration: Option<(&str, &str)>,
        last: Option<u64>,
        pipelines: BTreeMap<String, Declared>,
    ) -> Result<Vec<String>, Mistake> {
        let fail = |error: io::Error| failed(&self.path, &error);
        fs::create_dir_all(&self.path).map_err(fail)?;
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        let mut recorded = last;
        if let Some((up, down)) = migration {
            match self.interrupted(last, up) {
                Some(version) => recorded = Some(version),
                None => {
                    let version = self.next(now);
                    recorded = Some(version);
                    let file = |way: &str| self.path.join(format!("{version}_{name}.{way}.sql"));
                    files.push((file("down"), down.to_owned()));
                    files.push((file("up"), up.to_owned()));
                }
            }
        }
        let snapshot = Recorded::new(recorded, pipelines).text()?;
        files.push((self.path.join(SNAPSHOT), snapshot));
        put(&files).map_err(fail)?;
        if let Ok(directory) = File::open(&self.path) {
            // Not every system lets a directory be synchronised.
            let _ = directory.sync_all();
        }
        let shown = files.iter().map(|(path, _)| path.display().to_string());
        Ok(shown.collect())
    }

    /// The version of a migration that is written and not recorded: the one an interrupted run left.
    fn interrupted(&self, last: Option<u64>, up: &str) -> Option<u64> {
        let newer = self.migrations.iter().rev();
        let mut newer = newer.take_while(|(version, _)| last.is_none_or(|last| **version > last));
        newer
            .find(|(_, path)| {
                let downward = path.to_string_lossy().replace(".up.sql", ".down.sql");
                fs::read_to_string(path).is_ok_and(|text| text == up)
                    && Path::new(&downward).exists()
            })
            .map(|(version, _)| *version)
    }

    /// The second it is, in digits, and never before a migration that exists.
    fn next(&self, now: SystemTime) -> u64 {
        let newest = self.migrations.keys().next_back();
        let after = newest.map_or(0, |version| version.saturating_add(1));
        timestamp(now).max(after)
    }
}

/// Writes all of them beside their places, then renames them in order. What failed leaves none of its own behind:
/// only the last file may replace one, and nothing follows it that could fail.
fn put(files: &[(PathBuf, String)]) -> io::Result<()> {
    let beside = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        PathBuf::from(name)
    };
    let written = files.iter().try_for_each(|(path, text)| {
        let mut file = File::create(beside(path))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let mut placed: Vec<&Path> = Vec::new();
    let renamed = written.and_then(|()| {
        files.iter().try_for_each(|(path, _)| {
            fs::rename(beside(path), path)?;
            placed.push(path);
            Ok(())
        })
    });
    if renamed.is_err() {
        let left = files.iter().map(|(path, _)| beside(path));
        for path in left.chain(placed.into_iter().map(Path::to_owned)) {
            let _ = fs::remove_file(path);
        }
    }
    renamed
}

fn failed(path: &Path, error: &io::Error) -> Mistake {
    let fact = format!("{}: {}", path.display(), error.kind());
    Mistake::new(Reason::Directory, fact)
}

/// The version in `<version>_<name>.up.sql` or `<version>_<name>.sql`.
fn version(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    if !name.ends_with(".sql") || name.ends_with(".down.sql") {
        return None;
    }
    name.split_once('_')?.0.parse().ok()
}

/// `YYYYMMDDHHMMSS` in UTC. A clock before 1970 counts as 1970.
fn timestamp(now: SystemTime) -> u64 {
    let seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Counted from March of year 0, so that the leap day is a year's last: an era has 146097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let time = second / 3_600 * 10_000 + second / 60 % 60 * 100 + second % 60;
    (year * 10_000 + month * 100 + day) * 1_000_000 + time
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_version_is_the_second_in_digits() {
        for (seconds, expected) in [
            (0, 19_700_101_000_000),
            (951_782_399, 20_000_228_235_959),
            (951_782_400, 20_000_229_000_000),
            (1_709_251_199, 20_240_229_235_959),
            (1_735_689_599, 20_241_231_235_959),
            (1_796_070_600, 20_261_130_203_000),
            (4_107_542_400, 21_000_301_000_000),
        ] {
            assert_eq!(timestamp(at(seconds)), expected, "{seconds}");
        }
    }

    #[test]
    fn a_version_is_never_before_a_migration_that_exists() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("20990101000000_other.up.sql");
        fs::write(file, "").expect("written");
        let found = Directory::open(directory.path()).expect("open");
        assert_eq!(found.next(at(0)), 20_990_101_000_001);
    }

    #[test]
    fn a_run_that_ended_before_its_snapshot_is_completed_and_not_repeated() {
        let place = tempfile::tempdir().expect("a directory");
        let migration = Some(("up", "down"));
        let write = || {
            let directory = Directory::open(place.path()).expect("open");
            directory.write("a", at(0), migration, None, BTreeMap::new())
        };
        assert_eq!(write().expect("written").len(), 3);
        fs::remove_file(place.path().join(SNAPSHOT)).expect("removed");
        assert_eq!(write().expect("completed").len(), 1);
        let directory = Directory::open(place.path()).expect("open");
        assert_eq!(directory.migrations.len(), 1);
        assert_eq!(
            directory.recorded().expect("read").last,
            Some(19_700_101_000_000)
        );
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let place = tempfile::tempdir().expect("a directory");
        // A directory where the snapshot should be: the last rename fails.
        fs::create_dir(place.path().join(SNAPSHOT)).expect("created");
        let directory = Directory::open(place.path()).expect("open");
        let written = directory.write("a", at(0), Some(("up", "down")), None, BTreeMap::new());
        assert_eq!(written.expect_err("refused").reason, Reason::Directory);
        let left = fs::read_dir(place.path())
            .expect("read")
            .filter_map(Result::ok);
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, [SNAPSHOT]);
    }
}
