//! What was sealed opens where it belongs, with its key, unaltered; and nothing else opens.

use proptest::prelude::*;
use replicant_checkpoint::contract::resource::TableName;

use super::context::Place;
use super::data_keys::{DataKeys, Groups};
use super::envelope::{Envelope, SALT_BYTES};
use super::key::{Key, KeyId, Keyring, SECRET_BYTES};
use super::sealer::Sealer;
use super::vault::{EnvironmentVault, FileVault, StaticVault, Vault};
use crate::reason::Reason;

const CANARY: &str = "canary-4111-1111";

fn key(name: &str, byte: u8) -> Key {
    Key::new(KeyId::new(name).unwrap(), &[byte; SECRET_BYTES])
}

fn ring(keys: &[(&str, u8)]) -> Keyring {
    Keyring::new(keys.iter().map(|(name, byte)| key(name, *byte)).collect()).unwrap()
}

const fn table(schema: &'static str, table: &'static str) -> TableName {
    TableName { schema, table }
}

fn place() -> Place {
    Place::new(
        table("public", "orders"),
        table("mirror", "orders"),
        "encrypted_pan",
    )
}

fn sealed(keys: &Keyring, tenant: Option<&[u8]>, value: &[u8]) -> Vec<u8> {
    let sealer = Sealer::new(keys.current()).unwrap();
    sealer.seal(&place(), tenant, value).unwrap()
}

proptest! {
    #[test]
    fn what_was_sealed_opens_where_it_belongs(
        value in proptest::collection::vec(any::<u8>(), 0..200),
        tenant in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
    ) {
        let keys = ring(&[("a", 1)]);
        let envelope = sealed(&keys, tenant.as_deref(), &value);
        let opened = keys.open(&envelope, &place(), tenant.as_deref()).unwrap();
        prop_assert_eq!(opened.expose(), value.as_slice());
    }

    #[test]
    fn an_envelope_with_another_bit_does_not_open(
        value in proptest::collection::vec(any::<u8>(), 0..60),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let keys = ring(&[("a", 1), ("b", 2)]);
        let mut envelope = sealed(&keys, None, &value);
        let at = at.index(envelope.len());
        envelope[at] ^= 1 << bit;
        prop_assert!(keys.open(&envelope, &place(), None).is_err());
    }

    #[test]
    fn a_truncated_or_extended_envelope_does_not_open(
        value in proptest::collection::vec(any::<u8>(), 0..60),
        at in any::<prop::sample::Index>(),
    ) {
        let keys = ring(&[("a", 1)]);
        let mut envelope = sealed(&keys, None, &value);
        let end = at.index(envelope.len());
        prop_assert!(keys.open(&envelope[..end], &place(), None).is_err());
        envelope.push(0);
        prop_assert!(keys.open(&envelope, &place(), None).is_err());
    }

    #[test]
    fn any_bytes_are_no_envelope(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        prop_assert!(ring(&[("a", 1)]).open(&bytes, &place(), None).is_err());
    }
}

#[test]
fn an_envelope_that_was_moved_does_not_open() {
    let keys = ring(&[("a", 1)]);
    let envelope = sealed(&keys, Some(b"acme"), b"value");
    assert!(keys.open(&envelope, &place(), Some(b"acme")).is_ok());
    let (source, target) = (table("public", "orders"), table("mirror", "orders"));
    for (moved, tenant) in [
        (place(), Some(b"evil".as_slice())),
        (place(), Some(b"".as_slice())),
        (place(), None),
        (Place::new(source, target, "encrypted_cvv"), Some(b"acme")),
        (
            Place::new(table("public", "order"), target, "encrypted_pan"),
            Some(b"acme"),
        ),
        (
            Place::new(table("sales", "orders"), target, "encrypted_pan"),
            Some(b"acme"),
        ),
        (
            Place::new(source, table("mirror", "versions"), "encrypted_pan"),
            Some(b"acme"),
        ),
        (
            Place::new(source, table("other", "orders"), "encrypted_pan"),
            Some(b"acme"),
        ),
        // The same letters, divided elsewhere.
        (
            Place::new(table("publico", "rders"), target, "encrypted_pan"),
            Some(b"acme"),
        ),
    ] {
        let refused = keys.open(&envelope, &moved, tenant).unwrap_err();
        assert_eq!(refused, Reason::SealedValueInvalid);
    }
}

#[test]
fn no_tenant_and_an_empty_tenant_are_two_places() {
    let keys = ring(&[("a", 1)]);
    let envelope = sealed(&keys, None, b"value");
    assert!(keys.open(&envelope, &place(), Some(b"")).is_err());
}

#[test]
fn after_a_rotation_the_new_key_seals_and_both_open() {
    let before = ring(&[("2026", 1)]);
    let old = sealed(&before, None, b"old");
    let after = ring(&[("2026", 1), ("2027", 2)]);
    let new = sealed(&after, None, b"new");
    assert_eq!(after.open(&old, &place(), None).unwrap().expose(), b"old");
    assert_eq!(after.open(&new, &place(), None).unwrap().expose(), b"new");
    // Who does not have the new key says so, and a key of the same name with another secret opens nothing.
    assert_eq!(
        before.open(&new, &place(), None),
        Err(Reason::SealingKeyUnknown)
    );
    let impostor = ring(&[("2027", 3)]);
    assert_eq!(
        impostor.open(&new, &place(), None),
        Err(Reason::SealedValueInvalid)
    );
}

#[test]
fn equal_values_are_sealed_differently() {
    let keys = ring(&[("a", 1)]);
    let sealer = Sealer::new(keys.current()).unwrap();
    let one = sealer.seal(&place(), None, b"value").unwrap();
    let two = sealer.seal(&place(), None, b"value").unwrap();
    let later = sealed(&keys, None, b"value");
    assert!(one != two && one != later && two != later);
}

#[test]
fn without_random_numbers_nothing_is_sealed() {
    let refused = Sealer::salted(&key("a", 1), |_| Err(ring::error::Unspecified));
    assert_eq!(refused.err(), Some(Reason::SealingFailed));
}

#[test]
fn values_of_one_transaction_share_a_data_key_and_two_transactions_have_two() {
    let keys = ring(&[("a", 1)]);
    let groups = Groups::default();
    let [orders, cards] = [(); 2].map(|()| DataKeys::new(&keys, &groups).unwrap());
    let sealed = |table: &DataKeys| {
        let sealer = table.current().unwrap();
        sealer.seal(&place(), None, b"value").unwrap()
    };
    let parts = |envelope: &[u8]| {
        let parts = Envelope::parse(envelope).unwrap();
        (*parts.salt, parts.nonce)
    };
    let mut seen: Vec<[u8; SALT_BYTES]> = Vec::new();
    for _ in 0..3 {
        groups.begin();
        for table in [&orders, &cards] {
            let envelopes = [(); 2].map(|()| sealed(table));
            let [one, two] = envelopes.each_ref().map(|envelope| parts(envelope));
            assert_eq!(one.0, two.0);
            assert_ne!(one.1, two.1);
            assert!(!seen.contains(&one.0));
            seen.push(one.0);
            for envelope in &envelopes {
                assert!(keys.open(envelope, &place(), None).is_ok());
            }
        }
    }
}

#[test]
fn keys_are_read_from_text_and_mistakes_are_named_by_number() {
    let (one, two) = ("11".repeat(SECRET_BYTES), "aB".repeat(SECRET_BYTES));
    let text = format!("# of 2026\nfirst={one}\n\n second={two} # in use\n");
    let keys = Keyring::parse(&text).unwrap();
    let ids: Vec<&str> = keys.ids().map(KeyId::as_str).collect();
    assert_eq!(ids, ["first", "second"]);
    assert_eq!(keys.current().id().as_str(), "second");
    let same = ring(&[("first", 0x11), ("second", 0xAB)]);
    let envelope = sealed(&same, None, b"value");
    assert!(keys.open(&envelope, &place(), None).is_ok());
    assert!(Keyring::parse(&format!("a={one},b={two}")).is_ok());
    for (text, fact) in [
        (String::new(), "there is no key"),
        (format!("a={one} a={two}"), "key 2 repeats a name"),
        (format!("a={one} b={CANARY}"), "entry 2"),
        (format!("a={one}00"), "entry 1"),
        (format!("a={}", "+1".repeat(SECRET_BYTES)), "entry 1"),
        (CANARY.to_owned(), "entry 1"),
        (format!("{}={one}", "x".repeat(33)), "entry 1"),
        (format!("é={one}"), "entry 1"),
    ] {
        let error = Keyring::parse(&text).unwrap_err();
        assert_eq!(error.code(), "vault_keys_invalid");
        let said = error.to_string();
        assert!(said.contains(fact) && !said.contains(CANARY), "{said}");
    }
}

#[tokio::test]
async fn vaults_hand_out_what_they_were_given() {
    let one = "11".repeat(SECRET_BYTES);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("first={one}\n")).unwrap();
    let vaults: [&dyn Vault; 2] = [
        &StaticVault::new(ring(&[("first", 0x11)])),
        &FileVault::new(file.path()),
    ];
    for vault in vaults {
        let keys = vault.keys().await.unwrap();
        assert_eq!(keys.current().id().as_str(), "first");
    }
    // A new key comes into use when it is asked for again.
    std::fs::write(file.path(), format!("first={one}\nsecond={one}\n")).unwrap();
    let keys = FileVault::new(file.path()).keys().await.unwrap();
    assert_eq!(keys.current().id().as_str(), "second");
    let missing: [&dyn Vault; 2] = [
        &FileVault::new("/nonexistent/keys"),
        &EnvironmentVault::new("REPLICANT_NO_SUCH_VARIABLE"),
    ];
    for vault in missing {
        assert_eq!(vault.keys().await.unwrap_err().code(), "vault_keys_invalid");
    }
}

#[test]
fn nothing_prints_a_value_or_a_secret() {
    let secret: [u8; SECRET_BYTES] = *b"canary-secret-canary-secret-1234";
    let key = Key::new(KeyId::new("first").unwrap(), &secret);
    let keys = Keyring::new(vec![key.clone()]).unwrap();
    let sealer = Sealer::new(&key).unwrap();
    let envelope = sealer.seal(&place(), None, CANARY.as_bytes()).unwrap();
    let opened = keys.open(&envelope, &place(), None).unwrap();
    let vault = StaticVault::new(keys.clone());
    let said = format!(
        "{key:?} {keys:?} {sealer:?} {opened:?} {vault:?} {:?}",
        place()
    );
    let numbers = format!("{secret:?}");
    for leak in ["canary", numbers.trim_matches(['[', ']'])] {
        assert!(!said.contains(leak), "{said}");
    }
    let canary = CANARY.as_bytes();
    assert!(!envelope.windows(canary.len()).any(|part| part == canary));
}
