//! One row per way a declaration can change, in the order of the fields.

use super::super::drift::{Drift, DriftReason, REASONS, classify, classify_stored};
use super::super::manifest::{Column, ColumnOrigin, Manifest, Stream, Table};
use super::super::resource::{Fidelity, OnSchemaChange, OnTruncate, Protection, Storage};
use super::shop;

fn manifest() -> Manifest {
    Manifest::new(&shop(), &["shop"])
}

fn table(name: &str) -> Table {
    Table {
        schema: "public".into(),
        table: name.into(),
    }
}

fn column(name: &str) -> Column {
    Column {
        origin: ColumnOrigin::Source(name.into()),
        target: name.into(),
        storage: Storage::Text,
        fidelity: Fidelity::Lossless,
        protection: Protection::Plain,
    }
}

/// A change of the current declaration, and the code of the judgement.
type Case = (&'static str, fn(&mut Manifest), &'static str);

/// `orders` is the second relation: amount, id, note; it skips legacy_blob.
const CASES: &[Case] = &[
    ("nothing", |_| {}, "equal"),
    (
        "a publication more",
        |now| publications(now).push("x".into()),
        "publication",
    ),
    (
        "a publication less",
        |now| publications(now).clear(),
        "publication",
    ),
    (
        "a relation more",
        |now| {
            let mut more = now.relations[1].clone();
            more.source = table("zz");
            more.target = table("zz");
            now.relations.push(more);
        },
        "grown",
    ),
    (
        "a relation less",
        |now| drop(now.relations.remove(1)),
        "relation_removed",
    ),
    (
        "a relation less, ignored instead",
        |now| {
            now.relations.remove(1);
            now.ignores.push(table("orders"));
        },
        "relation_removed",
    ),
    (
        "an ignored table more",
        |now| now.ignores.push(table("zz")),
        "grown",
    ),
    (
        "an ignored table less",
        |now| drop(now.ignores.remove(0)),
        "ignores",
    ),
    (
        "an ignored table mapped",
        |now| {
            now.ignores.remove(0);
            now.relations[1].source = table("audit");
            now.relations.push(manifest().relations[1].clone());
        },
        "grown",
    ),
    (
        "another destination",
        |now| now.relations[1].target = table("elsewhere"),
        "relation_retargeted",
    ),
    (
        "another destination schema",
        |now| now.relations[1].target.schema = "x".into(),
        "relation_retargeted",
    ),
    (
        "a column more",
        |now| now.relations[1].columns.push(column("zz")),
        "grown",
    ),
    (
        "a column less",
        |now| drop(now.relations[1].columns.remove(0)),
        "column_removed",
    ),
    (
        "a column skipped instead",
        |now| {
            now.relations[1].columns.remove(0);
            now.relations[1].skips.push("amount".into());
        },
        "grown",
    ),
    (
        "a key column skipped instead",
        |now| {
            now.relations[1].columns.remove(1);
            now.relations[1].skips.push("id".into());
            now.relations[1].key.clear();
        },
        "key_changed",
    ),
    (
        "a skip more",
        |now| now.relations[1].skips.push("zz".into()),
        "grown",
    ),
    (
        "a skip less",
        |now| now.relations[1].skips.clear(),
        "skip_reactivated",
    ),
    (
        "a skip mapped instead",
        |now| {
            now.relations[1].skips.clear();
            now.relations[1].columns.push(column("legacy_blob"));
        },
        "grown",
    ),
    (
        "another source column",
        |now| now.relations[1].columns[0].origin = ColumnOrigin::Source("total".into()),
        "column_removed",
    ),
    (
        "a value made by the destination instead",
        |now| now.relations[1].columns[0].origin = ColumnOrigin::Destination,
        "column_removed",
    ),
    (
        "another destination column",
        |now| now.relations[1].columns[0].target = "total".into(),
        "column_changed",
    ),
    (
        "another type",
        |now| now.relations[1].columns[0].storage = Storage::Any,
        "column_type",
    ),
    (
        "exact, now lossy",
        |now| now.relations[1].columns[0].fidelity = Fidelity::Lossy,
        "grown",
    ),
    (
        "another key",
        |now| now.relations[1].key = vec!["note".into()],
        "key_changed",
    ),
    ("no key", |now| now.relations[1].key.clear(), "key_changed"),
    (
        "another truncate policy",
        |now| now.relations[1].on_truncate = OnTruncate::Mirror,
        "grown",
    ),
    (
        "another schema policy",
        |now| now.relations[1].on_schema_change = OnSchemaChange::Ignore,
        "grown",
    ),
];

fn publications(manifest: &mut Manifest) -> &mut Vec<String> {
    match &mut manifest.stream {
        Stream::Pgoutput { publications } => publications,
    }
}

fn code(drift: &Drift) -> &'static str {
    match drift {
        Drift::Equal => "equal",
        Drift::Grown => "grown",
        Drift::Incompatible(reason) => reason.code(),
    }
}

#[test]
fn only_growth_is_compatible() {
    for (what, change, expected) in CASES {
        let mut now = manifest();
        change(&mut now);
        assert_eq!(code(&classify(&manifest(), &now)), *expected, "{what}");
        assert_eq!(
            code(&classify_stored(&manifest().encode(), &now)),
            *expected,
            "{what}"
        );
    }
}

#[test]
fn values_stored_with_loss_do_not_become_exact() {
    let mut was = manifest();
    was.relations[1].columns[0].fidelity = Fidelity::Lossy;
    assert_eq!(
        classify(&was, &manifest()),
        Drift::Incompatible(DriftReason::ColumnChanged {
            table: table("orders"),
            column: "amount".into(),
        })
    );
}

#[test]
fn a_value_the_destination_makes_is_known_by_its_own_name() {
    let surrogate = Column {
        origin: ColumnOrigin::Destination,
        ..column("surrogate")
    };
    let mut was = manifest();
    was.relations[1].columns.push(surrogate);
    assert_eq!(code(&classify(&was, &was)), "equal");
    let Drift::Incompatible(reason) = classify(&was, &manifest()) else {
        panic!("its removal is growth");
    };
    assert_eq!(
        (reason.code(), reason.column()),
        ("column_removed", Some("surrogate"))
    );
    assert_eq!(reason.table(), Some(&table("orders")));
}

#[test]
fn damaged_and_foreign_bytes_are_incompatible() {
    let now = manifest();
    let mut stored = now.encode();
    assert_eq!(classify_stored(&stored, &now), Drift::Equal);
    stored.push(0);
    assert_eq!(
        classify_stored(&stored, &now),
        Drift::Incompatible(DriftReason::StoredContractInvalid)
    );
    for found in [0, 1, 3] {
        stored[0] = found;
        assert_eq!(
            classify_stored(&stored, &now),
            Drift::Incompatible(DriftReason::Version { found })
        );
    }
}

#[test]
fn every_reason_is_explained_and_named_once() {
    let (table, column) = (|| table("t"), || "c".to_owned());
    let all = [
        DriftReason::StoredContractInvalid,
        DriftReason::Version { found: 1 },
        DriftReason::Publication,
        DriftReason::SinkKind,
        DriftReason::InitialState,
        DriftReason::Ignores { table: table() },
        DriftReason::RelationRemoved { table: table() },
        DriftReason::RelationRetargeted { table: table() },
        DriftReason::ShapeChanged { table: table() },
        DriftReason::BusinessKeyChanged { table: table() },
        DriftReason::RolesChanged { table: table() },
        DriftReason::TenantSource { table: table() },
        DriftReason::ColumnRemoved {
            table: table(),
            column: column(),
        },
        DriftReason::SkipReactivated {
            table: table(),
            column: column(),
        },
        DriftReason::ColumnChanged {
            table: table(),
            column: column(),
        },
        DriftReason::ColumnType {
            table: table(),
            column: column(),
        },
        DriftReason::KeyChanged { table: table() },
        DriftReason::ProvenanceRemoved { table: table() },
        DriftReason::RouteRemoved,
        DriftReason::RouteChanged,
        DriftReason::IgnoredPrefixes,
    ];
    let codes: Vec<&str> = all.iter().map(DriftReason::code).collect();
    let explained: Vec<&str> = REASONS.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, explained);
    for (code, meaning) in REASONS {
        assert!(meaning.ends_with('.'), "{code}");
    }
}
