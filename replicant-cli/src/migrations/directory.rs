//! How do the files get into the directory, whole or not at all?
//!
//! Every file is written beside its place and synchronised, then all are renamed: of each migration the way down and
//! the way up, then the snapshot. The directories are synchronised before the snapshot is renamed, so that after a power
//! cut it names no migration that is not there. A run that ended between two renames left a migration the snapshot does
//! not know; the next run finds its own text in it and completes what is missing instead of writing it twice.
//!
//! Migrations for the schemas of tenants have a directory of their own in it, named after what those schemas are called.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use replicant_sink::ddl::{Declared, Place};

use super::reason::{Mistake, Reason};
use super::recorded::Recorded;
use super::series::Series;
use super::text::Migration;

/// The file that records what is declared.
const SNAPSHOT: &str = "replicant.snapshot.json";

/// A directory of migrations, which need not exist yet.
pub(super) struct Directory {
    path: PathBuf,
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
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Where the migrations of a place are.
    pub(super) fn of(&self, place: &Place) -> PathBuf {
        match place {
            Place::Destination => self.path.clone(),
            Place::EachTenant(schema) => self.path.join(directory_of(schema.as_str())),
        }
    }

    /// What the last run recorded; nothing before the first one.
    pub(super) fn recorded(&self) -> Result<Recorded, Mistake> {
        // A file in its place cannot hold a snapshot, and is told apart from one that is absent.
        Series::open(self.path.clone()).map_err(|error| failed(&self.path, &error))?;
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

    /// Writes the migrations, if there are any, and the snapshot. Returns the paths that were written.
    pub(super) fn write(
        &self,
        name: &str,
        now: SystemTime,
        migrations: &[Migration],
        last: Option<u64>,
        pipelines: BTreeMap<String, Declared>,
    ) -> Result<Vec<String>, Mistake> {
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        let mut directories = BTreeSet::new();
        let mut recorded = last;
        for migration in migrations {
            let path = self.of(&migration.place);
            let fail = |error: io::Error| failed(&path, &error);
            let series = Series::open(path.clone()).map_err(fail)?;
            let left = series.interrupted(last, &migration.up);
            // Not before what is recorded either: the next run could not tell it from an older one.
            let version = left.unwrap_or_else(|| series.next(now).max(last.map_or(0, after)));
            recorded = recorded.max(Some(version));
            directories.extend(made(&path).map_err(fail)?);
            if left.is_none() {
                let file = |way: &str| series.path.join(format!("{version}_{name}.{way}.sql"));
                files.push((file("down"), migration.down.clone()));
                files.push((file("up"), migration.up.clone()));
            }
        }
        let fail = |error: io::Error| failed(&self.path, &error);
        directories.extend(made(&self.path).map_err(fail)?);
        let snapshot = Recorded::new(recorded, pipelines).text()?;
        files.push((self.path.join(SNAPSHOT), snapshot));
        put(&files, &directories, synchronise).map_err(fail)?;
        let shown = files.iter().map(|(path, _)| path.display().to_string());
        Ok(shown.collect())
    }
}

const fn after(version: u64) -> u64 {
    version.saturating_add(1)
}

/// `tenant_each` for `tenant_{}`. Where a name says less than the schemas', a hash tells two of them apart.
fn directory_of(schema: &str) -> String {
    const TENANT: &str = "each";
    let plain = |one: char| matches!(one, 'a'..='z' | '0'..='9' | '_');
    let (before, after) = schema.split_once("{}").unwrap_or((schema, ""));
    let is_plain = [before, after]
        .iter()
        .all(|part| part.chars().all(plain) && !part.contains(TENANT));
    let kept = |part: &str| part.chars().filter(|one| plain(*one)).collect::<String>();
    let name = format!("{}{TENANT}{}", kept(before), kept(after));
    match is_plain {
        true => name,
        false => {
            let sum = ring::digest::digest(&ring::digest::SHA256, schema.as_bytes());
            let short = sum.as_ref().iter().take(4);
            let short: String = short.map(|byte| format!("{byte:02x}")).collect();
            format!("{name}_{short}")
        }
    }
}

/// Makes the directory. Returns those to synchronise before anything in it is sure to be found after a power cut.
fn made(path: &Path) -> io::Result<Vec<PathBuf>> {
    let named = |one: &&Path| !one.as_os_str().is_empty();
    let missing = path
        .ancestors()
        .take_while(|one| named(one) && !one.exists());
    // An interrupted run may have made it and no more.
    let new = missing.count().max(1);
    fs::create_dir_all(path)?;
    let found = path.ancestors().take(new.saturating_add(1));
    let found = found.map(|one| match named(&one) {
        true => one.to_owned(),
        false => PathBuf::from("."),
    });
    Ok(found.collect())
}

fn synchronise(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        // Not every system lets a directory be synchronised.
        let _ = directory.sync_all();
    }
}

/// Writes all of them beside their places, then renames them in order. What failed leaves none of its own behind:
/// only the last file may replace one, and nothing follows it that could fail. What the last one names is durable before
/// it is.
fn put(
    files: &[(PathBuf, String)],
    directories: &BTreeSet<PathBuf>,
    synchronise: impl Fn(&Path),
) -> io::Result<()> {
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
    let last = files.len().saturating_sub(1);
    let renamed = written.and_then(|()| {
        for (at, (path, _)) in files.iter().enumerate() {
            if at == last {
                directories.iter().for_each(|one| synchronise(one));
            }
            fs::rename(beside(path), path)?;
            placed.push(path);
        }
        directories.iter().for_each(|one| synchronise(one));
        Ok(())
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use replicant_transport::ident::Ident;

    use super::*;

    fn migration(place: Place, up: &str) -> Migration {
        Migration {
            place,
            up: up.to_owned(),
            down: format!("not {up}"),
        }
    }

    fn of_tenants() -> Place {
        Place::EachTenant(Ident::new("tenant_{}").expect("a name"))
    }

    fn written(
        place: &Path,
        second: u64,
        migrations: &[Migration],
        last: Option<u64>,
    ) -> Result<Vec<String>, Mistake> {
        let now = UNIX_EPOCH + Duration::from_secs(second);
        Directory::new(place).write("a", now, migrations, last, BTreeMap::new())
    }

    fn recorded(place: &Path) -> Option<u64> {
        Directory::new(place).recorded().expect("read").last
    }

    #[test]
    fn schemas_of_tenants_have_directories_of_their_own() {
        let named = ["tenant_{}", "{}", "{}_shop"].map(directory_of);
        assert_eq!(named, ["tenant_each", "each", "each_shop"]);
        let alike = [
            "each{}",
            "{}each",
            "T_{}",
            "_{}",
            "a\"/../_{}",
            "aé{}",
            "a{}",
        ];
        let mut names: Vec<String> = alike.map(directory_of).into();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), alike.len(), "{names:?}");
        assert!(
            names.iter().all(|name| check_name(name).is_ok()),
            "{names:?}"
        );
    }

    #[test]
    fn a_run_that_ended_before_its_snapshot_is_completed_and_not_repeated() {
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path();
        let both = [
            migration(Place::Destination, "one"),
            migration(of_tenants(), "other"),
        ];
        assert_eq!(written(place, 0, &both, None).expect("written").len(), 5);
        fs::remove_file(place.join(SNAPSHOT)).expect("removed");
        assert_eq!(written(place, 9, &both, None).expect("completed").len(), 1);
        assert_eq!(recorded(place), Some(19_700_101_000_000));
        // It ended between the two migrations.
        fs::remove_file(place.join(SNAPSHOT)).expect("removed");
        let up = place.join("tenant_each/19700101000000_a.up.sql");
        fs::remove_file(up).expect("removed");
        assert_eq!(written(place, 9, &both, None).expect("completed").len(), 3);
        assert_eq!(recorded(place), Some(19_700_101_000_009));
        let versions = fs::read_dir(place).expect("read").count();
        assert_eq!(versions, 4, "two files, the snapshot and the directory");
    }

    #[test]
    fn a_version_is_after_all_that_are_recorded_wherever_they_are() {
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path();
        let first = [migration(Place::Destination, "one")];
        written(place, 9, &first, None).expect("written");
        let second = [migration(of_tenants(), "other")];
        written(place, 0, &second, recorded(place)).expect("written");
        assert_eq!(recorded(place), Some(19_700_101_000_010));
    }

    #[test]
    fn the_snapshot_is_placed_after_what_it_names_is_durable() {
        let place = tempfile::tempdir().expect("a directory");
        let (each, deep) = (place.path().join("each"), place.path().join("a/b"));
        let above = |path: &Path| path.parent().map(Path::to_owned).expect("a parent");
        let found = made(&deep).expect("made");
        let expected = [deep.clone(), above(&deep), place.path().to_owned()];
        assert_eq!(found, expected);
        assert_eq!(made(&deep).expect("there"), [deep.clone(), above(&deep)]);

        let mut directories = BTreeSet::from_iter(made(&each).expect("made"));
        directories.insert(place.path().to_owned());
        let migration = each.join("1_a.up.sql");
        let snapshot = place.path().join(SNAPSHOT);
        let files = [&migration, &snapshot].map(|path| (path.clone(), "text".to_owned()));
        let seen = std::cell::RefCell::new(Vec::new());
        put(&files, &directories, |directory| {
            let there = (migration.exists(), snapshot.exists());
            seen.borrow_mut().push((directory.to_owned(), there));
        })
        .expect("put");
        let in_turn = [(true, false), (true, true)].map(|there| {
            let both = [place.path().to_owned(), each.clone()];
            both.map(|directory| (directory, there))
        });
        assert_eq!(seen.into_inner(), in_turn.concat());
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path();
        // A directory where the snapshot should be: the last rename fails.
        fs::create_dir(place.join(SNAPSHOT)).expect("created");
        let both = [
            migration(Place::Destination, "one"),
            migration(of_tenants(), "other"),
        ];
        let refused = written(place, 0, &both, None).expect_err("refused");
        assert_eq!(refused.reason, Reason::Directory);
        let names = |path: &Path| -> Vec<_> {
            let entries = fs::read_dir(path).expect("read").filter_map(Result::ok);
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(place), [SNAPSHOT, "tenant_each"]);
        assert_eq!(names(&place.join("tenant_each")).len(), 0);
    }
}
