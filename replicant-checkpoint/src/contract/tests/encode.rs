//! Bytes are forever: golden files per version, round trips, and no surprise from damaged input.

use proptest::prelude::*;

use super::super::encode::DecodeError;
use super::super::manifest::{Column, Holding, Manifest, Relation, Stream, Table};
use super::super::resource::{Fidelity, OnSchemaChange, OnTruncate, Storage};
use super::shop;

const GOLDEN_V1: &str = include_str!("../golden/manifest-v1.hex");

fn hex(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    lines.join("\n") + "\n"
}

#[test]
fn version_1_has_the_bytes_it_always_had() {
    let manifest = Manifest::new(&shop(), &["shop"]);
    assert_eq!(hex(&manifest.encode()), GOLDEN_V1);
    assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
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
    assert_eq!(with(0, 2), Err(DecodeError::Version { found: 2 }));
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

fn manifest() -> impl Strategy<Value = Manifest> {
    let column = (proptest::option::of(name()), any::<bool>(), any::<bool>());
    let relation = (
        table(),
        proptest::collection::btree_map(name(), column, 0..4),
        proptest::collection::btree_set(name(), 0..3),
        proptest::collection::btree_set(name(), 0..3),
        any::<(bool, bool)>(),
    );
    (
        proptest::collection::btree_set(name(), 0..3),
        proptest::collection::btree_map(table(), relation, 0..3),
        proptest::collection::btree_set(table(), 0..3),
    )
        .prop_map(|(publications, relations, ignores)| Manifest {
            stream: Stream::Pgoutput {
                publications: publications.into_iter().collect(),
            },
            relations: relations
                .into_iter()
                .map(
                    |(source, (target, columns, skips, key, (truncate, schema)))| Relation {
                        source,
                        target,
                        shape: Holding::Mirror,
                        columns: columns
                            .into_iter()
                            .map(|(target, (source, text, lossy))| Column {
                                source,
                                target,
                                storage: if text { Storage::Text } else { Storage::Array },
                                fidelity: if lossy {
                                    Fidelity::Lossy
                                } else {
                                    Fidelity::Lossless
                                },
                            })
                            .collect(),
                        skips: skips.into_iter().collect(),
                        key: key.into_iter().collect(),
                        on_truncate: if truncate {
                            OnTruncate::Mirror
                        } else {
                            OnTruncate::Halt
                        },
                        on_schema_change: if schema {
                            OnSchemaChange::Ignore
                        } else {
                            OnSchemaChange::HaltDestructive
                        },
                    },
                )
                .collect(),
            ignores: ignores.into_iter().collect(),
        })
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
        let mut bytes = vec![1, 1];
        bytes.extend_from_slice(&count.to_be_bytes());
        prop_assert_eq!(Manifest::decode(&bytes), Err(DecodeError::Truncated));
    }
}
