//! Admission runs the rules of the macros on compiled specifications, and the list of rules is well formed.

use std::collections::BTreeSet;

use super::super::resource::{ColumnSpec, Nullability, ResourceSpec, Storage};
use super::super::rules::{self, Rule};
use super::declarations::{PAYMENTS, SHOP};
use super::{ORDERS, column, shop, sink};

#[test]
fn a_legal_sink_passes() {
    assert_eq!(rules::sink(&shop()), []);
    assert_eq!(rules::sink(&SHOP), []);
    assert_eq!(rules::sink(&PAYMENTS), []);
}

#[test]
fn a_hand_written_specification_is_judged_like_a_declared_one() {
    static BAD: ResourceSpec = ResourceSpec {
        columns: &[
            ColumnSpec {
                nullability: Nullability::Nullable,
                ..column("id", Storage::Int8)
            },
            column("note", Storage::Text),
            column("note", Storage::Text),
        ],
        primary_key: &["id", "nope"],
        skips: &["note"],
        actions: &[],
        ..ORDERS
    };
    let codes: Vec<&str> = rules::sink(&sink(const { &[&[&BAD]] }))
        .iter()
        .map(|one| one.rule.code())
        .collect();
    assert_eq!(
        codes,
        [
            "source_column_repeated",
            "target_column_repeated",
            "skip_mapped",
            "identity_key_unknown",
            "action_missing",
            "key_nullable"
        ]
    );
}

#[test]
fn a_table_without_a_key_is_legal() {
    let keyless = ResourceSpec {
        primary_key: &[],
        identities: &[],
        ..ORDERS
    };
    assert_eq!(rules::resource(&keyless), []);
    assert!(keyless.key_fields().is_empty());
}

#[test]
fn codes_are_unique_and_help_is_a_line() {
    let codes: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.code()).collect();
    assert_eq!(codes.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert!(
            rule.help().starts_with(char::is_lowercase) && !rule.help().contains('\n'),
            "{rule}"
        );
        assert!(!rule.silenced_by().contains(rule), "{rule}");
    }
}
