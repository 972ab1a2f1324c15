//! What comes back to the compiler, whatever was wrong.

use proc_macro2::Span;
use quote::quote;
use replicant_checkpoint::contract::rules::{Part, Rule};

use super::expand;
use crate::emit::judged;
use crate::library::PRIVATE;

const LEGAL: &str = r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))]
    #[derive(Clone)] struct A { #[replicant(primary_key)] a: i64 }"#;

#[test]
fn a_legal_declaration_is_the_item_and_an_implementation() {
    let (tokens, found) = expand(LEGAL);
    assert!(found.is_empty());
    let text = tokens.to_string();
    assert!(
        text.starts_with("# [derive (Clone)] # [allow (dead_code)] struct A { a : i64 }"),
        "{text}"
    );
    assert!(
        text.contains("impl :: replicant_sink :: __private :: v0_1 :: Resource for A"),
        "{text}"
    );
    assert!(text.contains("broken : false"), "{text}");
    syn::parse2::<syn::File>(tokens).unwrap();
}

#[test]
fn every_promise_of_a_declaration_is_asserted_in_generated_code() {
    let (tokens, _) = expand(
        r#"#[replicant(table = "t", sensitive(b), actions(read, destroy, create(accept = all)))]
        struct A { #[replicant(primary_key)] a: i64, b: Vec<u8>, #[replicant(encrypted)] c: Sealed<i64> }"#,
    );
    let text = tokens.to_string();
    for promised in [
        ":: column :: < Vec < u8 > >",
        ":: sealed_column :: < Sealed < i64 > >",
    ] {
        assert!(text.contains(promised), "{promised}: {text}");
    }
    for rule in [Rule::KeyNullable, Rule::SensitivePlain] {
        let part = Part::ColumnType(0);
        let arguments = judged::arguments(&quote!(P), rule, part, Span::call_site());
        let arguments = arguments.to_string().replace("P ::", "");
        let (rule, part) = arguments.split_once(" , ").unwrap();
        let (rule, part) = (rule.trim(), part.trim());
        let asserted = text
            .split("promises :: refuse")
            .skip(1)
            .any(|call| call.contains(rule) && call.contains(part));
        assert!(asserted, "{rule} {part}: {text}");
    }
}

#[test]
fn a_broken_declaration_still_gives_the_item_and_a_stub_marked_broken() {
    for (source, item) in [
        (
            r#"#[replicant(tabel = "t")] pub struct A { #[replicant(primery_key)] a: i64 }"#,
            "pub struct A { a : i64 }",
        ),
        (
            r#"#[replicant(table = "t")] struct A<'a, T: Clone> where T: Copy { a: &'a T }"#,
            "struct A < 'a , T : Clone >",
        ),
        (
            r#"#[replicant(table = "t")] struct A(#[replicant(lossy)] i64);"#,
            "struct A (i64)",
        ),
        (
            r#"#[replicant(table = "t")] enum A { B { #[replicant(lossy)] b: i64 } }"#,
            "enum A { B { b : i64 } }",
        ),
    ] {
        let (tokens, found) = expand(source);
        let text = tokens.to_string();
        assert!(!found.is_empty());
        assert!(text.contains(item), "{text}");
        assert!(
            text.contains("broken : true") || text.contains("ResourceSpec :: BROKEN"),
            "{text}"
        );
        syn::parse2::<syn::File>(tokens).unwrap();
    }
}

#[test]
fn a_conditional_item_has_a_conditional_implementation() {
    let (tokens, _) = expand(
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))] #[cfg(unix)]
           struct A { #[replicant(primary_key)] a: i64 }"#,
    );
    assert_eq!(tokens.to_string().matches("# [cfg (unix)]").count(), 2);
}

#[test]
fn a_renamed_library_is_named_everywhere() {
    for source in [
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))]
           struct A { #[replicant(primary_key)] a: i64 }"#,
        r#"#[replicant(source_table = "s", table = "t", multitenancy(strategy = attribute, attribute = o),
           tenant_fn(path = f, args("eu")), sensitive(p), history_strategy = scd2, history_business_key(k),
           identity(v, keys(k, valid_from_lsn)), upsert_identity = v, snapshot_provenance,
           actions(read, destroy, create(accept = all, changes(C), validations(V), touches(R)),
           update(close_version, accept(valid_to_lsn)), update(replicant_mark_seen, private, mark_seen),
           update(replicant_retire_unseen, private, accept(valid_to_lsn))))]
           struct A { #[replicant(primary_key, generated)] a: i64, k: i64, o: String,
           #[replicant(encrypted)] p: Sealed<String>, #[replicant(lossy)] f: f32, valid_from_lsn: i64, valid_to_lsn: Option<i64>,
           #[replicant(private)] replica_fingerprint: Option<Vec<u8>>,
           #[replicant(private)] replica_seen_attempt: Option<Vec<u8>> }"#,
        r#"#[replicant(table = "t", multitenancy(strategy = context, schema = "t_{}", global), append_log,
           identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants),
           actions(read, create(append, accept = all)))]
           struct A { source_system_id: String, source_database: String, slot_name: String, commit_lsn: i64, ordinal: i64,
           operation: String, origin: String, snapshot_attempt: Option<Vec<u8>>, o: Option<String>,
           #[replicant(before = o)] b: Option<String> }"#,
        r#"#[replicant(auxiliary, table = "t", actions(create(record, accept(content), message(retention = "72h", effect = E))))]
           struct A { #[replicant(primary_key, generated)] a: i64, content: String }"#,
        "#[replicant_domain(resources(A, B))] struct D;",
        r#"#[replicant_checkpoint(schema = "s", grants(select = "ops"))] struct C;"#,
        r#"#[replicant_sink(slot_name = "s", domains(D, E), checkpoint = C, ignored_sources("p.t"),
           message_routes(route("mail", A, record)), ignored_message_prefixes("beat"), recovery_horizon = "24h")] struct S;"#,
        r#"#[replicant_sink(slot_name = "s", domains(D), checkpoint = C, sink_kind = append_log, initial_state = snapshot)]
           struct S;"#,
    ] {
        let renamed = source.replacen('(', "(crate = ::mirror::sink, ", 1);
        let (tokens, found) = expand(&renamed);
        assert!(found.is_empty(), "{source}: {found:?}");
        let text = tokens.to_string();
        assert!(!text.contains("replicant_sink"), "{text}");
        assert!(
            text.contains(":: mirror :: sink :: __private :: v0_1"),
            "{text}"
        );
    }
}

#[test]
fn the_private_module_carries_the_version_of_this_crate() {
    let version = concat!(
        "v",
        env!("CARGO_PKG_VERSION_MAJOR"),
        "_",
        env!("CARGO_PKG_VERSION_MINOR")
    );
    assert_eq!(PRIVATE, ["__private", version]);
}
