//! Each mistake is found once and underlines the smallest token to edit.

use std::collections::BTreeSet;

use replicant_checkpoint::contract::rules::{Rule, Rung};

use super::expand;

/// A declaration, then the code and underlined text of every mistake in it, in the order reported.
const CASES: &[(&str, &[(&str, &str)])] = &[
    // Syntax.
    (
        r#"#[replicant(table = "t", skip(a) on_truncate = halt, actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_syntax", "on_truncate")],
    ),
    (
        r#"#[replicant(table =, actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_syntax", "="), ("option_missing", "A")],
    ),
    (
        r#"#[replicant(table = "t", tabel = "x", actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_unknown", "tabel")],
    ),
    (
        r#"#[replicant(table = "t", generated, actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_misplaced", "generated")],
    ),
    (
        r#"#[replicant(table = "t", table = "u", actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_repeated", "table")],
    ),
    (
        r#"#[replicant(table = 5, on_truncate = drop, actions(read, destroy, create(accept = some)))] struct A { b: i64 }"#,
        &[
            ("option_value", "5"),
            ("option_value", "drop"),
            ("option_value", "some"),
        ],
    ),
    (
        r#"#[replicant(table("t"), actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_value", "(\"t\")")],
    ),
    (
        "#[replicant(actions(read, destroy, create(accept = all)))] struct A { b: i64 }",
        &[("option_missing", "A")],
    ),
    (
        r#"#[replicant(table = "t")] struct A { b: i64 }"#,
        &[("option_missing", "A")],
    ),
    (
        r#"#[replicant(table = "t", identity(k), actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("option_missing", "k")],
    ),
    (
        r#"#[replicant(table = "t")] enum A { B { #[replicant(lossy)] b: i64 } }"#,
        &[("item_shape", "enum")],
    ),
    (
        r#"#[replicant(table = "t")] struct A(i64);"#,
        &[("item_shape", "A")],
    ),
    (
        r#"#[replicant(table = "t")] fn a() {}"#,
        &[("item_shape", "fn")],
    ),
    (
        "#[replicant_domain(resources(A))] struct D { a: i64 }",
        &[("item_shape", "D")],
    ),
    (
        r#"#[replicant(table = "t")] struct A<T> { b: T }"#,
        &[("item_generic", "T")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))] #[replicant(table = "u")] struct A { b: i64 }"#,
        &[("item_repeated", "replicant")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))] struct A { #[cfg(test)] b: i64 }"#,
        &[("field_conditional", "cfg")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))]
        struct A { a: i64, #[replicant(generated, source = "x", lossy)] b: i64 }"#,
        &[
            ("generated_source", "source"),
            ("generated_source", "lossy"),
        ],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))]
        struct A { a: i64, #[replicant(encrypted, lossy)] b: Sealed<f32> }"#,
        &[("sealed_lossy", "lossy")],
    ),
    (
        r#"#[replicant(table = "t", append_log, actions(read, create(append, accept = all)))]
        struct A { #[replicant(before = x, source = y)] b: Option<i64> }"#,
        &[
            ("before_source", "source"),
            ("columns_empty", "A"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("role_field_unknown", "append_log"),
            ("append_identity_unknown", "append_log"),
        ],
    ),
    // Names.
    (
        r#"#[replicant(table = "", source_table = "a\n", skip(""), actions(read, destroy, create(accept = all)))]
        struct A { #[replicant(column = "")] b: i64 }"#,
        &[
            ("identifier_invalid", r#""a\n""#),
            ("identifier_invalid", r#""""#),
            ("identifier_invalid", r#""""#),
            ("identifier_invalid", r#""""#),
        ],
    ),
    (
        r#"#[replicant(table = "t", schema = pg_catalog, actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("schema_reserved", "pg_catalog")],
    ),
    (
        r#"#[replicant_checkpoint(schema = "information_schema", grants(select = ""))] struct C;"#,
        &[
            ("schema_reserved", r#""information_schema""#),
            ("identifier_invalid", r#""""#),
        ],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))] struct A {}"#,
        &[("columns_empty", "A")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))]
        struct A { a: i64, #[replicant(source = "a")] b: i64, #[replicant(column = "a")] c: i64 }"#,
        &[
            ("source_column_repeated", r#""a""#),
            ("target_column_repeated", r#""a""#),
        ],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))] struct A { #[replicant(sql_type = " ")] b: i64 }"#,
        &[("sql_type_invalid", r#"" ""#)],
    ),
    (
        r#"#[replicant(table = "t", skip(x, b, "x", b), actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[
            ("skip_mapped", "b"),
            ("skip_repeated", r#""x""#),
            ("skip_repeated", "b"),
        ],
    ),
    (
        r#"#[replicant(table = "t", identity(i, keys(b)), identity(i, keys()), identity(j, keys(b, b, c)),
        actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[
            ("identity_repeated", "i"),
            ("identity_empty", "keys"),
            ("identity_key_repeated", "b"),
            ("identity_key_unknown", "c"),
        ],
    ),
    (
        r#"#[replicant(table = "t", upsert_identity = nope, actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("upsert_identity_unknown", "nope")],
    ),
    (
        r#"#[replicant(table = "t", identity(i, keys(a, b)), upsert_identity = i, actions(read, destroy, create(accept = all)))]
        struct A { #[replicant(generated)] a: i64, b: i64 }"#,
        &[("key_generated", "a")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))]
        struct A { #[replicant(primary_key, generated)] a: i64, b: i64 }"#,
        &[("key_generated", "primary_key")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, read, destroy, create(accept = all), create, update(x), create(x, accept(b))))]
        struct A { b: i64 }"#,
        &[
            ("primary_action_repeated", "read"),
            ("primary_action_repeated", "create"),
            ("action_name_repeated", "x"),
        ],
    ),
    (
        r#"#[replicant(table = "t", actions(read))] struct A { b: i64 }"#,
        &[("action_missing", "actions")],
    ),
    (
        r#"#[replicant(table = "t", actions(read(accept = all), destroy(accept(b)), create(accept = all)))] struct A { b: i64 }"#,
        &[
            ("accept_without_write", "accept"),
            ("accept_without_write", "accept"),
        ],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept(b, b, nope, g, p))))]
        struct A { b: i64, c: i64, #[replicant(generated)] g: i64, #[replicant(private)] p: i64 }"#,
        &[
            ("accept_repeated", "b"),
            ("accept_unknown", "nope"),
            ("accept_generated", "g"),
            ("accept_private", "p"),
        ],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept = all)))] struct A { b: i64, #[replicant(private)] p: i64 }"#,
        &[("private_mapped", "private")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create(accept(b))))] struct A { b: i64, c: i64 }"#,
        &[("column_not_accepted", "accept")],
    ),
    (
        r#"#[replicant(table = "t", actions(read, destroy, create))] struct A { b: i64 }"#,
        &[("column_not_accepted", "create")],
    ),
    (
        "#[replicant_domain(resources(A, a::B, A, a::B))] struct D;",
        &[("resource_repeated", "A"), ("resource_repeated", "B")],
    ),
    ("#[replicant_domain] struct D;", &[("option_missing", "D")]),
    (
        r#"#[replicant_sink(slot_name = "Bad-Slot", domains(D, D), checkpoint = C, ignored_sources("a", "p.t", "p.t"))] struct S;"#,
        &[
            ("slot_name_invalid", r#""Bad-Slot""#),
            ("ignored_source_invalid", r#""a""#),
            ("ignored_source_repeated", r#""p.t""#),
            ("domain_repeated", "D"),
        ],
    ),
    (
        "#[replicant_sink(domains())] struct S;",
        &[("option_missing", "S"), ("option_missing", "S")],
    ),
    // An option that is to go is underlined by its name, whatever its value.
    (
        r#"#[replicant(table = "t", history_business_key(b), history_close_action = c, history_current_attribute = b,
        append_action = a, append_identity = i, append_slot_attribute = b, snapshot_mark_action = m,
        snapshot_retire_action = r, snapshot_scopes(path = f), actions(read, destroy, create(accept = all)))]
        struct A { b: i64 }"#,
        &[
            ("history_option_unused", "history_current_attribute"),
            ("append_option_unused", "append_slot_attribute"),
            ("history_option_unused", "history_business_key"),
            ("history_option_unused", "history_close_action"),
            ("append_option_unused", "append_action"),
            ("append_option_unused", "append_identity"),
            ("snapshot_option_unused", "snapshot_mark_action"),
            ("snapshot_option_unused", "snapshot_retire_action"),
            ("snapshot_option_unused", "snapshot_scopes"),
        ],
    ),
    (
        r#"#[replicant(auxiliary, source_schema = "s", source_table = "t", table = "t", skip(x), sensitive(x),
        on_truncate = mirror, on_schema_change = ignore, tenant_attribute = b, tenant_fn(path = f), actions(read))]
        struct A { #[replicant(source = "z")] b: i64 }"#,
        &[
            ("auxiliary_source", "source_schema"),
            ("auxiliary_source", "source_table"),
            ("auxiliary_source", "on_truncate"),
            ("auxiliary_source", "on_schema_change"),
            ("auxiliary_source", "tenant_attribute"),
            ("auxiliary_source", "tenant_fn"),
            ("auxiliary_source", "skip"),
            ("auxiliary_source", "sensitive"),
            ("auxiliary_source", "source"),
        ],
    ),
    (
        r#"#[replicant(table = "t", multitenancy(strategy = attribute, attribute = b, schema = "t_{}"), tenant_attribute = b,
        actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("tenancy_option_unused", "schema")],
    ),
    (
        r#"#[replicant(table = "t", tenant_attribute = b, actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
        &[("tenant_source_without_tenancy", "tenant_attribute")],
    ),
    (
        r#"#[replicant(table = "t", identity(i, keys(b), where = "b > 0"), upsert_identity = i,
        actions(read(touches(R)), destroy, create(accept = all)))]
        struct A { b: i64, #[replicant(before = b)] c: Option<i64> }"#,
        &[
            ("before_outside_log", "before"),
            ("identity_partial", "where"),
            ("hook_on_read", "touches"),
        ],
    ),
    (
        r#"#[replicant_sink(slot_name = "s", domains(D), checkpoint = C, initial_state = snapshot, recovery_horizon = "24h")] struct S;"#,
        &[
            ("initial_state_unused", "initial_state"),
            ("recovery_horizon_unused", "recovery_horizon"),
        ],
    ),
];

#[test]
fn each_mistake_underlines_the_token_to_edit_and_is_found_once() {
    for (source, expected) in CASES {
        let (_, found) = expand(source);
        let found: Vec<(&str, String)> = found
            .iter()
            .map(|one| {
                (
                    one.rule.code(),
                    one.span().source_text().unwrap_or_default(),
                )
            })
            .collect();
        let expected: Vec<(&str, String)> = expected
            .iter()
            .map(|(code, text)| (*code, (*text).to_owned()))
            .collect();
        assert_eq!(found, expected, "{source}");
    }
}

/// The rules about whole declarations are the contract's, and the compile tests break each of them.
#[test]
fn every_rule_about_a_single_attribute_is_provoked() {
    let provoked: BTreeSet<&str> = CASES
        .iter()
        .flat_map(|(_, expected)| expected.iter().map(|(code, _)| *code))
        .collect();
    let syntax = Rule::ALL.iter().filter(|rule| rule.rung() == Rung::Syntax);
    let missing: Vec<&str> = syntax
        .map(|rule| rule.code())
        .filter(|code| !provoked.contains(code))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_message_is_code_fact_and_help() {
    let (_, found) = expand(
        r#"#[replicant(tabel = "t", table = "t", actions(read, destroy, create(accept = all)))] struct A { b: i64 }"#,
    );
    let message = found.first().unwrap().message();
    assert!(
        message.starts_with("replicant[option_unknown]: `tabel` is not an option of #[replicant(...)] on a struct; did you mean `table`?\nhelp: write `table = \"orders\"`"),
        "{message}"
    );
}
