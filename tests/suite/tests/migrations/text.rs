//! What do migrations say, and when is none written? No server is asked.

use std::fs;
use std::path::Path;

use replicant_checkpoint::store::Store;
use replicant_cli::Exit;
use replicant_sink::ddl::{self, MadeBy};
use replicant_sink::pipeline::Pipeline;
use replicant_transport::ident::Ident;
use tempfile::TempDir;

use crate::declared::{after, before, placed, unsaid};
use crate::{files, first, migrate, then, ways};

/// Compares with the file of that name; `BLESS=1` writes it.
fn golden(name: &str, text: &str) {
    let store = Store::in_schema(Ident::new("replicant").unwrap());
    let mut text = text.to_owned();
    for (whole, short) in [(store.ddl(), "ddl"), (store.drop_ddl(), "drop_ddl")] {
        let whole = whole.trim_end().to_owned();
        text = text.replace(&whole, &format!("<{short} of the checkpoint>;"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden/migrations")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name}");
}

#[test]
fn the_text_of_migrations_is_as_reviewed() {
    let place = TempDir::new().unwrap();
    assert_eq!(migrate(place.path(), first(), &["--tables"]), Exit::Clean);
    assert_eq!(migrate(place.path(), then(), &[]), Exit::Clean);
    let (up, down) = (
        ways(place.path(), ".up.sql"),
        ways(place.path(), ".down.sql"),
    );
    assert_eq!((up.len(), down.len()), (2, 2));
    golden("first.up.sql", &up[0]);
    golden("first.down.sql", &down[0]);
    golden("second.up.sql", &up[1]);
    golden("second.down.sql", &down[1]);
    golden("replicant.snapshot.json", &{
        // The version is the time of the run.
        let snapshot = files(place.path())
            .remove("replicant.snapshot.json")
            .unwrap();
        let lines = snapshot
            .lines()
            .filter(|line| !line.contains("\"last\"") && !line.contains("\"checksum\""));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    });

    let placed = TempDir::new().unwrap();
    let pipeline = vec![Pipeline::of::<placed::Sink>()];
    assert_eq!(migrate(placed.path(), pipeline, &["--tables"]), Exit::Clean);
    golden("placed.up.sql", &ways(placed.path(), ".up.sql")[0]);
    golden("placed.down.sql", &ways(placed.path(), ".down.sql")[0]);
    let each = &placed.path().join("tenant_each");
    golden("placed_each.up.sql", &ways(each, ".up.sql")[0]);
    golden("placed_each.down.sql", &ways(each, ".down.sql")[0]);

    let host = TempDir::new().unwrap();
    assert_eq!(migrate(host.path(), first(), &[]), Exit::Clean);
    golden("host.up.sql", &ways(host.path(), ".up.sql")[0]);
    golden("host.down.sql", &ways(host.path(), ".down.sql")[0]);
}

#[test]
fn a_second_run_writes_nothing_and_a_check_tells_what_is_not_written() {
    let place = TempDir::new().unwrap();
    let directory = &place.path().join("new");
    assert_eq!(
        migrate(directory, first(), &["--tables", "--check"]),
        Exit::Failed
    );
    assert_eq!(
        migrate(directory, first(), &["--tables", "--dry-run"]),
        Exit::Clean
    );
    assert!(!directory.exists());
    assert_eq!(migrate(directory, first(), &["--tables"]), Exit::Clean);
    let written = files(directory);
    assert_eq!(written.len(), 3, "{:?}", written.keys());
    for options in [
        &[][..],
        &["--tables"],
        &["--check"],
        &["--pipeline", "first"],
        &["--json"],
    ] {
        assert_eq!(
            migrate(directory, first(), options),
            Exit::Clean,
            "{options:?}"
        );
        assert_eq!(files(directory), written, "{options:?}");
    }
    assert_eq!(migrate(directory, then(), &["--check"]), Exit::Failed);
    // One pipeline's change leaves the other's tables alone.
    let only = vec![Pipeline::of::<after::Sink>()];
    assert_eq!(
        migrate(directory, only, &["--pipeline", "first"]),
        Exit::Clean
    );
    assert_eq!(migrate(directory, then(), &["--check"]), Exit::Clean);
}

#[test]
fn the_schemas_of_tenants_have_migrations_of_their_own_and_only_for_what_changed() {
    let place = TempDir::new().unwrap();
    let (directory, each) = (place.path(), &place.path().join("tenant_each"));
    let said = || vec![Pipeline::of::<placed::Sink>()];
    let silent = || vec![Pipeline::of::<placed::silent::Sink>()];
    assert_eq!(migrate(directory, said(), &["--dry-run"]), Exit::Clean);
    assert_eq!(migrate(directory, said(), &[]), Exit::Clean);
    // The tables are the host's; the index of an identity is not.
    let up = ways(each, ".up.sql").remove(0);
    assert!(!up.contains("create table"), "{up}");
    assert!(
        up.contains(
            "\ncreate unique index \"payments_by_number_key\" on \"payments\" (\"number\");"
        ),
        "{up}"
    );
    let held = (files(directory), files(each));
    assert_eq!(migrate(directory, said(), &[]), Exit::Clean);
    assert_eq!(migrate(directory, said(), &["--check"]), Exit::Clean);
    assert_eq!((files(directory), files(each)), held);
    // A change of the checkpoint is none of the tenants'.
    assert_eq!(migrate(directory, silent(), &[]), Exit::Clean);
    assert_eq!(files(each), held.1);
    assert_eq!(ways(directory, ".up.sql").len(), 2);
    // Two pipelines may not write one table of tenants.
    let twice = [
        silent(),
        vec![Pipeline::of::<placed::silent::Sink>().named("other")],
    ]
    .concat();
    assert_eq!(migrate(directory, twice, &[]), Exit::Failed);
}

#[test]
fn what_cannot_be_used_is_refused_and_nothing_is_written() {
    let place = TempDir::new().unwrap();
    let directory = place.path();
    let refused = |pipelines: Vec<Pipeline>, options: &[&str], exit| {
        let held = files(directory);
        assert_eq!(migrate(directory, pipelines, options), exit, "{options:?}");
        assert_eq!(files(directory), held, "{options:?}");
    };
    refused(first(), &["--name", "a-b"], Exit::NotAsked);
    refused(first(), &["--pipeline", "third"], Exit::NotAsked);
    refused(Vec::new(), &[], Exit::NotAsked);
    let twice = [first(), vec![Pipeline::of::<before::Sink>()]].concat();
    refused(twice, &[], Exit::NotAsked);
    let claimed = vec![
        Pipeline::of::<before::Sink>(),
        Pipeline::of::<before::Sink>().named("other"),
    ];
    refused(claimed, &[], Exit::Failed);

    assert_eq!(migrate(directory, then(), &["--tables"]), Exit::Clean);
    let narrower = || vec![Pipeline::of::<after::narrower::Sink>()];
    refused(narrower(), &["--pipeline", "first"], Exit::Failed);
    let snapshot = directory.join("replicant.snapshot.json");
    let text = fs::read_to_string(&snapshot).unwrap();
    for damaged in [
        "",
        "{}",
        &text.replace("labels", "lapels"),
        &text.replace("\"version\": 2,", "\"version\": 9,"),
    ] {
        fs::write(&snapshot, damaged).unwrap();
        refused(first(), &[], Exit::NotAsked);
    }
    fs::write(&snapshot, &text).unwrap();
    let meant = ["--pipeline", "first", "--allow-destructive"];
    assert_eq!(migrate(directory, narrower(), &meant), Exit::Clean);
    let up = ways(directory, ".up.sql").remove(1);
    assert!(
        up.contains("\nalter table \"mirror\".\"labels\" alter column \"id\" type integer"),
        "{up}"
    );
    assert!(up.contains("\ndrop table \"mirror\".\"orders\";"), "{up}");

    let file = directory.join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(migrate(&file, first(), &[]), Exit::NotAsked);
}

#[test]
fn what_a_declaration_does_not_tell_is_refused_by_name() {
    let told = |pipeline: Pipeline, tables| -> Vec<String> {
        match ddl::wanted(pipeline.spec(), tables, None) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    };
    let anything = Pipeline::of::<unsaid::Sink>;
    let [line] = <[String; 1]>::try_from(told(anything(), MadeBy::Migrations)).unwrap();
    assert!(line.starts_with("sql_type_required"), "{line}");
    assert!(
        line.contains("public.t") && line.contains("point"),
        "{line}"
    );
    assert_eq!(told(anything(), MadeBy::Host), [""; 0]);
}
