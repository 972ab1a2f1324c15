//! Bytes are forever: golden files per version, round trips, and no surprise from damaged input.

use proptest::prelude::*;

use super::super::encode::DecodeError;
use super::super::manifest::{
    Apart, Column, ColumnOrigin, Holding, Hook, Manifest, Provenance, Relation, Route, Stream,
    Table, Tenants, Told,
};
use super::super::resource::{
    ActionKind, Fidelity, IdentityReach, OnSchemaChange, OnTruncate, Protection, Role, Storage,
    TenancyReach,
};
use super::super::sink::{InitialState, SinkKind};
use super::declarations::{PAYMENTS, SHOP};
use super::shop;

const GOLDEN_V1: &str = include_str!("../golden/manifest-v1.hex");
const GOLDEN_V2_MIRROR: &str = include_str!("../golden/manifest-v2-mirror.hex");
const GOLDEN_V2_LOG: &str = include_str!("../golden/manifest-v2-log.hex");

fn hex(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    lines.join("\n") + "\n"
}

#[test]
fn version_2_has_the_bytes_it_always_had() {
    for (sink, golden) in [(&SHOP, GOLDEN_V2_MIRROR), (&PAYMENTS, GOLDEN_V2_LOG)] {
        let manifest = Manifest::new(sink, &["shop"]);
        assert_eq!(hex(&manifest.encode()), golden);
        assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
    }
}

#[test]
fn version_1_is_known_as_another_version() {
    let bytes: Vec<u8> = GOLDEN_V1
        .split_ascii_whitespace()
        .flat_map(|line| (0..line.len()).step_by(2).map(move |at| &line[at..at + 2]))
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    assert_eq!(
        Manifest::decode(&bytes),
        Err(DecodeError::Version { found: 1 })
    );
}

#[test]
fn damage_is_an_error_with_a_name() {
    let good = Manifest::new(&shop(), &["shop"]).encode();
    let with = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        Manifest::decode(&bad)
    };
    assert_eq!(Manifest::decode(&[]), Err(DecodeError::Truncated));
    assert_eq!(with(0, 1), Err(DecodeError::Version { found: 1 }));
    assert_eq!(with(0, 0), Err(DecodeError::Version { found: 0 }));
    assert_eq!(with(1, 9), Err(DecodeError::UnknownWord));
    assert_eq!(with(6, 0xFF), Err(DecodeError::Truncated));
    assert_eq!(with(10, 0xFF), Err(DecodeError::NotText));
    let longer = [good.as_slice(), &[0]].concat();
    assert_eq!(Manifest::decode(&longer), Err(DecodeError::TrailingBytes));
    for end in 0..good.len() {
        assert!(Manifest::decode(&good[..end]).is_err(), "{end}");
    }
    let twice = Manifest {
        ignores: vec![
            Table {
                schema: "b".into(),
                table: "b".into(),
            },
            Table {
                schema: "a".into(),
                table: "a".into(),
            },
        ],
        ..Manifest::new(&shop(), &["shop"])
    };
    assert_eq!(
        Manifest::decode(&twice.encode()),
        Err(DecodeError::NotCanonical)
    );
}

fn name() -> impl Strategy<Value = String> {
    "[a-zé\"]{1,4}"
}

fn table() -> impl Strategy<Value = Table> {
    (name(), name()).prop_map(|(schema, table)| Table { schema, table })
}

fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::btree_set(name(), 0..3).prop_map(|names| names.into_iter().collect())
}

fn roles() -> impl Strategy<Value = Vec<(Role, String)>> {
    let roles = proptest::sample::subsequence(Role::ALL, 0..4);
    roles.prop_flat_map(|roles| {
        let names = proptest::collection::vec(name(), roles.len());
        names.prop_map(move |names| roles.iter().copied().zip(names).collect())
    })
}

fn holding() -> impl Strategy<Value = Holding> {
    prop_oneof![
        Just(Holding::Mirror),
        (names(), roles()).prop_map(|(business_key, roles)| Holding::History {
            business_key,
            roles
        }),
        roles().prop_map(|roles| Holding::AppendLog { roles }),
    ]
}

fn tenants() -> impl Strategy<Value = Tenants> {
    let apart = prop_oneof![
        name().prop_map(Apart::Column),
        name().prop_map(Apart::Schema)
    ];
    let told = prop_oneof![
        Just(Told::Nothing),
        name().prop_map(Told::Column),
        (name(), proptest::collection::vec(name(), 0..3))
            .prop_map(|(path, args)| Told::Function { path, args }),
    ];
    let reach = prop_oneof![Just(TenancyReach::Scoped), Just(TenancyReach::Global)];
    prop_oneof![
        Just(Tenants::None),
        (apart, reach, told).prop_map(|(apart, reach, told)| Tenants::Some { apart, reach, told }),
    ]
}

fn column() -> impl Strategy<Value = (ColumnOrigin, Storage, Fidelity, Protection)> {
    let origin = prop_oneof![
        name().prop_map(ColumnOrigin::Source),
        name().prop_map(ColumnOrigin::Before),
        Just(ColumnOrigin::Destination),
        Just(ColumnOrigin::Stamp),
    ];
    (
        origin,
        prop_oneof![Just(Storage::Text), Just(Storage::Array)],
        prop_oneof![Just(Fidelity::Lossless), Just(Fidelity::Lossy)],
        prop_oneof![Just(Protection::Plain), Just(Protection::Sealed)],
    )
}

fn hooks() -> impl Strategy<Value = Vec<Hook>> {
    let kind = prop_oneof![Just(ActionKind::Create), Just(ActionKind::Destroy)];
    let hook = (kind, name(), name()).prop_map(|(kind, action, name)| Hook { kind, action, name });
    proptest::collection::btree_set(hook, 0..3).prop_map(|hooks| hooks.into_iter().collect())
}

fn relation() -> impl Strategy<Value = Relation> {
    let policies = (
        prop_oneof![Just(OnTruncate::Halt), Just(OnTruncate::Append)],
        prop_oneof![
            Just(OnSchemaChange::HaltDestructive),
            Just(OnSchemaChange::Ignore)
        ],
        prop_oneof![Just(IdentityReach::Tenant), Just(IdentityReach::AllTenants)],
        prop_oneof![Just(Provenance::Unmarked), Just(Provenance::Marked)],
    );
    let columns = proptest::collection::btree_map(name(), column(), 0..4);
    let lists = (columns, names(), names(), hooks());
    (table(), holding(), tenants(), lists, policies).prop_map(
        |(target, holding, tenants, (columns, skips, key, hooks), policies)| {
            let (on_truncate, on_schema_change, key_reach, provenance) = policies;
            let columns = columns.into_iter().map(|(target, column)| {
                let (origin, storage, fidelity, protection) = column;
                Column {
                    origin,
                    target,
                    storage,
                    fidelity,
                    protection,
                }
            });
            Relation {
                source: Table {
                    schema: String::new(),
                    table: String::new(),
                },
                target,
                holding,
                tenants,
                columns: columns.collect(),
                skips,
                key,
                key_reach,
                provenance,
                hooks,
                on_truncate,
                on_schema_change,
            }
        },
    )
}

fn route() -> impl Strategy<Value = Route> {
    (table(), name(), proptest::option::of(name())).prop_map(|(target, action, effect)| Route {
        prefix: String::new(),
        target,
        action,
        effect,
    })
}

fn manifest() -> impl Strategy<Value = Manifest> {
    (
        names(),
        proptest::collection::btree_map(table(), relation(), 0..3),
        proptest::collection::btree_set(table(), 0..3),
        proptest::collection::btree_map(name(), route(), 0..3),
        names(),
        prop_oneof![Just(SinkKind::StateMirror), Just(SinkKind::AppendLog)],
        prop_oneof![Just(None), Just(Some(InitialState::GoForward))],
    )
        .prop_map(
            |(publications, relations, ignores, routes, ignored_prefixes, kind, initial_state)| {
                let relations = relations
                    .into_iter()
                    .map(|(source, relation)| Relation { source, ..relation });
                let routes = routes
                    .into_iter()
                    .map(|(prefix, route)| Route { prefix, ..route });
                Manifest {
                    stream: Stream::Pgoutput { publications },
                    kind,
                    initial_state,
                    relations: relations.collect(),
                    ignores: ignores.into_iter().collect(),
                    routes: routes.collect(),
                    ignored_prefixes,
                }
            },
        )
}

proptest! {
    #[test]
    fn every_manifest_survives_its_bytes(manifest in manifest()) {
        prop_assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
    }

    #[test]
    fn garbage_is_an_error_and_never_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(manifest) = Manifest::decode(&bytes) {
            prop_assert_eq!(manifest.encode(), bytes);
        }
    }

    #[test]
    fn bytes_that_decode_are_the_bytes_that_encode(
        manifest in manifest(), at in any::<proptest::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = manifest.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(other) = Manifest::decode(&bytes) {
            prop_assert_eq!(other.encode(), bytes);
        }
    }

    #[test]
    fn a_length_is_not_believed_before_the_bytes_are_there(count in any::<u32>()) {
        let mut bytes = vec![2, 1];
        bytes.extend_from_slice(&count.to_be_bytes());
        prop_assert_eq!(Manifest::decode(&bytes), Err(DecodeError::Truncated));
    }
}
