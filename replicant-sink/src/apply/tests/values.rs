//! Values that are easily damaged: each arrives as the source's text, by every way of writing.

use super::Mirror;
use crate::fixture::{N, delete, insert, t, update};

/// Type in SQL and values in the type's own output form.
const VALUES: &[(&str, &[&str])] = &[
    (
        "numeric",
        &[
            "NaN",
            "Infinity",
            "-Infinity",
            "1.10",
            "12345678901234567890.123",
        ],
    ),
    (
        "float8",
        &[
            "NaN",
            "Infinity",
            "-0",
            "0.30000000000000004",
            "-216237.0000003597",
        ],
    ),
    ("float4", &["NaN", "1.1754944e-38"]),
    (
        "date",
        &["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31"],
    ),
    (
        "timestamp",
        &[
            "infinity",
            "4713-01-01 00:00:00 BC",
            "294276-12-31 23:59:59.999999",
        ],
    ),
    (
        "timestamptz",
        &["-infinity", "2024-02-29 12:00:00.000001+00"],
    ),
    ("time", &["24:00:00", "00:00:00.000001"]),
    ("timetz", &["12:34:56.789+05:30"]),
    ("interval", &["1 year 2 mons -3 days +04:05:06.7"]),
    (
        "jsonb",
        &[
            "null",
            "\"x\"",
            "{\"a\": \"q\\\"\\\\\"}",
            "12345678901234567890123",
        ],
    ),
    ("json", &["{ \"b\":1,\"a\" : [1,2 ]}"]),
    ("bit(3)", &["101"]),
    ("varbit", &["", "1010101010101010101010101"]),
    ("int4range", &["empty", "(,5)", "[1,)"]),
    ("int4multirange", &["{[1,3),[5,7)}", "{}"]),
    ("int4[]", &["{}", "[0:1]={1,2}", "{{1,NULL},{3,4}}"]),
    ("text[]", &["{\"a,b\",\"q\\\"\\\\\",NULL,\"\"}"]),
    ("values_.pair", &["(1,\"x, \"\"y\"\"\")", "(,)"]),
    (
        "values_.pair[]",
        &["{\"(1,\\\"x, \\\"\\\"y\\\"\\\"\\\")\"}"],
    ),
    ("values_.mood", &["it's", "sad \"x\""]),
    ("values_.posint", &["7"]),
    (
        "text",
        &[
            "",
            "it's",
            "\\",
            "\\N",
            "\\.",
            "tab\there",
            "line\nline\r",
            "$1 ünï \u{1F600}",
        ],
    ),
    ("char(5)", &["ab   "]),
    ("varchar(3)", &["abc"]),
    ("\"char\"", &["x", ""]),
    ("name", &["n"]),
    ("bytea", &["\\x", "\\x00ff5c27"]),
    ("bool", &["t", "f"]),
    ("oid", &["4294967295"]),
    ("inet", &["192.168.0.1/24"]),
    ("cidr", &["10.0.0.0/8"]),
    ("macaddr8", &["08:00:2b:01:02:03:04:05"]),
    ("uuid", &["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("point", &["(1.5,-2)"]),
    ("polygon", &["((0,0),(0,1),(1,1))"]),
    ("tsvector", &["'b c':2 'it''s':3"]),
    ("xml", &["<a b=\"c\">d</a>", "x<y/>z"]),
    ("pg_lsn", &["16/B374D848"]),
    ("money", &["$1,234.56"]),
];

#[tokio::test]
async fn every_value_arrives_as_its_text() {
    let mut ddl = String::from(
        "create schema values_; create type values_.pair as (a int4, b text); \
         create type values_.mood as enum ('it''s', 'sad \"x\"'); \
         create domain values_.posint as int4 check (value > 0);",
    );
    let names: Vec<String> = (0..VALUES.len()).map(|n| format!("values_.t{n}")).collect();
    for (name, (ty, _)) in names.iter().zip(VALUES) {
        ddl.push_str(&format!(
            "create table {name} (id int8 primary key, v {ty});"
        ));
    }
    let tables: Vec<(&str, &[&str])> = names
        .iter()
        .map(|name| (name.as_str(), &["id"][..]))
        .collect();
    let mut mirror = Mirror::new(&ddl, &tables).await;
    for (index, (ty, values)) in VALUES.iter().enumerate() {
        let r = mirror.relations[index].clone();
        let query = format!(
            "select v from {} order by id limit {}",
            names[index],
            values.len() + 1
        );
        let rows = |from: usize| {
            let mut rows: Vec<_> = vec![insert(&r, &[t(from), N])];
            rows.extend(
                values
                    .iter()
                    .zip(from + 1..)
                    .map(|(value, id)| insert(&r, &[t(id), t(value)])),
            );
            rows
        };
        let mut expected = vec!["NULL".to_owned()];
        expected.extend(values.iter().map(|value| (*value).to_owned()));
        mirror.apply(rows(0)).await;
        assert_eq!(mirror.rows(&query).await, expected, "{ty} inserted");
        let updates = values
            .iter()
            .zip(1..)
            .map(|(value, id)| update(&r, &[t(id), t(value)]));
        mirror
            .apply(updates.chain([update(&r, &[t(0), N])]).collect())
            .await;
        assert_eq!(mirror.rows(&query).await, expected, "{ty} updated");
        // Enough rows for COPY, into an empty table.
        mirror
            .apply(
                (0..=values.len())
                    .map(|id| delete(&r, &[t(id), N]))
                    .collect(),
            )
            .await;
        let many = (0..130).flat_map(|n| rows(n * 100));
        mirror.apply(many.collect()).await;
        assert_eq!(mirror.rows(&query).await, expected, "{ty} copied");
    }
}

#[tokio::test]
async fn array_and_composite_keys_are_not_flattened() {
    let mut mirror = Mirror::new(
        "create schema arrkey; create table arrkey.t (id int4[] primary key, v text)",
        &[("arrkey.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            insert(&r, &[t("{1,2}"), t("a")]),
            insert(&r, &[t("{1,2,3}"), t("b")]),
        ])
        .await;
    mirror
        .apply(vec![
            update(&r, &[t("{1,2}"), t("c")]),
            delete(&r, &[t("{1,2,3}"), N]),
        ])
        .await;
    assert_eq!(mirror.rows("select * from arrkey.t").await, ["{1,2}|c"]);
}
