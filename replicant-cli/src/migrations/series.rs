//! Which migrations are in a directory? Files `<version>_<name>.up.sql`, run in the order of their versions.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The migrations of a directory, which need not exist yet.
pub(super) struct Series {
    pub(super) path: PathBuf,
    /// Their versions, sorted, with the path of each way up.
    migrations: BTreeMap<u64, PathBuf>,
}

impl Series {
    /// Reads which migrations there are.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let mut migrations = BTreeMap::new();
        match fs::read_dir(&path) {
            Ok(entries) => {
                for entry in entries {
                    let file = entry?.path();
                    if let Some(version) = version(&file) {
                        migrations.insert(version, file);
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(Self { path, migrations })
    }

    /// The version of a migration that is written and not recorded: the one an interrupted run left.
    pub(super) fn interrupted(&self, last: Option<u64>, up: &str) -> Option<u64> {
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
    pub(super) fn next(&self, now: SystemTime) -> u64 {
        let newest = self.migrations.keys().next_back();
        let after = newest.map_or(0, |version| version.saturating_add(1));
        timestamp(now).max(after)
    }
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
        let found = Series::open(directory.path().to_owned()).expect("open");
        assert_eq!(found.next(at(0)), 20_990_101_000_001);
    }
}
