//! Is every pair of types that would lose something refused before a row is read, and its lossless neighbour not?

use std::collections::BTreeSet;

use replicant_checkpoint::contract::resource::Fidelity;
use replicant_sink::doctor::{Verdict, preflight};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::world::DEADLINE;

/// A source type, a destination type that loses something of it, and one that does not.
const PAIRS: &[(&str, &str, &str)] = &[
    ("numeric", "numeric(10,2)", "numeric"),
    ("numeric(12,4)", "numeric(12,2)", "numeric(12,4)"),
    ("numeric(12,4)", "numeric(11,4)", "numeric(14,5)"),
    ("numeric", "double precision", "text"),
    ("numeric(9,0)", "bigint", "numeric(10,0)"),
    ("bigint", "integer", "bigint"),
    ("integer", "smallint", "bigint"),
    ("bigint", "numeric(18,0)", "numeric(19,0)"),
    ("bigint", "double precision", "numeric"),
    ("integer", "real", "numeric(12,2)"),
    ("integer", "oid", "text"),
    ("oid", "integer", "oid"),
    ("double precision", "real", "double precision"),
    ("double precision", "numeric", "text"),
    ("real", "numeric", "double precision"),
    ("money", "numeric", "money"),
    ("boolean", "integer", "boolean"),
    ("boolean", "varchar(4)", "varchar"),
    ("text", "varchar(100)", "varchar"),
    ("varchar(20)", "varchar(19)", "varchar(21)"),
    ("varchar", "varchar(100)", "text"),
    ("char(5)", "char(4)", "char(5)"),
    ("char(5)", "char(6)", "varchar(5)"),
    ("varchar(5)", "char(5)", "text"),
    ("text", "name", "text"),
    ("name", "char(63)", "name"),
    ("text", "\"char\"", "citext"),
    ("citext", "varchar(10)", "citext"),
    ("text", "bytea", "text"),
    ("bytea", "varchar(10)", "bytea"),
    ("uuid", "bytea", "text"),
    ("text", "uuid", "text"),
    ("json", "jsonb", "json"),
    ("jsonb", "hstore", "json"),
    ("text", "json", "text"),
    ("xml", "varchar(9)", "xml"),
    ("timestamptz", "timestamp", "timestamptz"),
    ("timestamp", "timestamptz", "timestamp"),
    ("timestamp", "date", "timestamp"),
    ("timestamptz", "date", "text"),
    ("date", "timestamp", "date"),
    ("timestamp", "timestamp(3)", "timestamp(6)"),
    ("timestamptz(3)", "timestamptz(2)", "timestamptz"),
    ("time", "time(0)", "time"),
    ("timetz", "time", "timetz"),
    ("timetz", "timetz(3)", "text"),
    ("time", "interval", "time"),
    ("timestamp", "time", "timestamp"),
    ("interval", "interval(3)", "interval"),
    ("interval", "interval day to second", "text"),
    ("bit(8)", "bit(7)", "bit(8)"),
    ("bit(8)", "bit(9)", "bit(8)"),
    ("bit varying(8)", "bit varying(7)", "bit varying(9)"),
    ("bit varying", "bit varying(64)", "bit varying"),
    ("bit varying(8)", "bit(8)", "bit varying"),
    ("inet", "cidr", "inet"),
    ("macaddr8", "macaddr", "macaddr8"),
    ("box", "polygon", "box"),
    ("lseg", "point", "text"),
    ("tsvector", "text[]", "text"),
    ("int8range", "int4range", "int8range"),
    ("integer[]", "smallint[]", "bigint[]"),
    ("integer[]", "integer", "text"),
    ("varchar(9)[]", "varchar(8)[]", "text[]"),
    ("numeric(9,3)[]", "numeric(9,2)[]", "numeric(9,3)[]"),
    ("timestamptz[]", "timestamp[]", "timestamptz[]"),
    ("box[]", "text[]", "text"),
    ("mood", "varchar(3)", "mood"),
    ("mood", "humour", "text"),
    ("text", "mood", "text"),
    ("pair", "humour", "pair"),
    ("amount", "numeric(5,2)", "numeric(12,3)"),
    ("amount", "narrow", "amount"),
    ("numeric(12,3)", "narrow", "amount"),
];

const TYPES: &str = "create extension citext; create extension hstore;
    create type mood as enum ('sad', 'happy'); create type humour as enum ('sad', 'happy');
    create type pair as (a int, b text);
    create domain amount as numeric(12,3); create domain narrow as numeric(10,2);";

/// Tables `<prefix>0`, `<prefix>1`, ... with a column of each of these types.
fn tables(prefix: &str, types: impl Iterator<Item = &'static str>) -> String {
    let each = types.enumerate();
    let each = each
        .map(|(i, ty)| format!("create table {prefix}{i} (id int primary key, \"the V\" {ty});"));
    each.collect()
}

fn names(prefix: &str) -> Vec<String> {
    (0..PAIRS.len()).map(|i| format!("{prefix}{i}")).collect()
}

async fn world() -> World {
    let source = || PAIRS.iter().map(|(source, ..)| *source);
    let left = format!(
        "{TYPES} {} {}",
        tables("lossy", source()),
        tables("exact", source())
    );
    let right = format!(
        "{TYPES} {} {}",
        tables("lossy", PAIRS.iter().map(|(_, lossy, _)| *lossy)),
        tables("exact", PAIRS.iter().map(|(.., exact)| *exact))
    );
    World::new(&left, &right).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_lossy_pair_is_refused_by_table_and_column_and_no_lossless_one_is() {
    let world = world().await;
    let all: Vec<String> = names("lossy").into_iter().chain(names("exact")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let spec = world.specification(&all).await.build();
    let pipeline = world.pipeline(spec).await;
    let report = preflight(&pipeline).await;
    let refused = report
        .checks
        .iter()
        .filter(|check| check.status == Verdict::Fail);
    let mut found = BTreeSet::new();
    for check in refused {
        let detail = check.detail.as_deref().unwrap();
        assert_eq!(check.reason, "type_pair_lossy", "{detail}");
        let table = detail
            .strip_prefix("table public.")
            .and_then(|rest| rest.split_once(" column the V: source "))
            .unwrap_or_else(|| panic!("{detail}"))
            .0;
        found.insert(table.to_owned());
    }
    for (index, (source, lossy, exact)) in PAIRS.iter().enumerate() {
        assert!(
            found.contains(&format!("lossy{index}")),
            "{source} into {lossy} is admitted"
        );
        assert!(
            !found.contains(&format!("exact{index}")),
            "{source} into {exact} is refused"
        );
    }
    // A start refuses for the same reason, and creates nothing.
    let handle = pipeline.start().await.unwrap();
    let error = handle.join().await.unwrap_err();
    assert_eq!(error.code(), "type_pair_lossy");
    assert!(error.site().table.is_some() && error.site().column.is_some());
    assert_eq!(slots(&world).await, 0);
}

async fn slots(world: &World) -> i64 {
    let sql = "select count(*) from pg_replication_slots where slot_name = $1";
    world
        .source
        .query_one(sql, &[&world.slot])
        .await
        .unwrap()
        .get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loss_that_is_declared_is_what_the_destination_makes_of_the_text() {
    let pairs = [
        ("numeric", "numeric(5,2)", "123.456", "123.46"),
        (
            "timestamptz",
            "timestamp",
            "2024-03-31 01:30:00+01",
            "2024-03-31 00:30:00",
        ),
        (
            "timestamptz",
            "date",
            "2024-03-31 00:30:00+01",
            "2024-03-30",
        ),
        (
            "timestamp",
            "timestamp(0)",
            "2024-03-31 01:30:00.6",
            "2024-03-31 01:30:01",
        ),
        (
            "json",
            "jsonb",
            "{\"b\":1,\"a\":2,\"b\":3}",
            "{\"a\": 2, \"b\": 3}",
        ),
        ("double precision", "real", "0.30000000000000004", "0.3"),
        ("bigint", "integer", "7", "7"),
        ("char(5)", "char(7)", "ab", "ab     "),
        ("timetz", "time", "12:34:56.789+05:30", "12:34:56.789"),
        (
            "text",
            "uuid",
            "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ),
    ];
    let side = |pick: fn(&(&'static str, &'static str, &str, &str)) -> &'static str| {
        let columns: Vec<_> = pairs
            .iter()
            .enumerate()
            .map(|(i, pair)| format!("c{i} {}", pick(pair)))
            .collect();
        format!(
            "create table t (id int primary key, {})",
            columns.join(", ")
        )
    };
    let world = World::new(&side(|pair| pair.0), &side(|pair| pair.1)).await;
    let spec = world.specification(&["t"]).await.with("t", |resource| {
        let mut columns = resource.columns.to_vec();
        for column in &mut columns[1..] {
            column.fidelity = Fidelity::Lossy;
        }
        resource.columns = Vec::leak(columns);
    });
    let handle = world.start(spec.build()).await;
    let values: Vec<_> = pairs.iter().map(|pair| format!("'{}'", pair.2)).collect();
    world
        .run(&format!("insert into t values (1, {})", values.join(", ")))
        .await;
    world.caught_up().await;
    let rows = replicant_tests::compare::rows(&world.destination, "t").await;
    let found: Vec<_> = rows[0][1..]
        .iter()
        .map(|value| value.as_deref().unwrap())
        .collect();
    let expected: Vec<_> = pairs.iter().map(|pair| pair.3).collect();
    assert_eq!(found, expected);
    handle.stop().await.unwrap();
}

/// A source column is widened after admission: nothing of the wider shape is written, everything before it is.
async fn halts_when_widened(from: &str, to: &str, before: &str, after: &str, codes: &[&str]) {
    let world = World::same(&format!("create table t (id int primary key, v {from})")).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run(&format!("insert into t values (1, {before})"))
        .await;
    assert_equal(&world, &["t"]).await;
    world
        .run(&format!("insert into t values (2, {before})"))
        .await;
    world
        .run(&format!(
            "alter table t alter v type {to}; insert into t values (3, {before}), (4, {after})"
        ))
        .await;
    let error = tokio::time::timeout(DEADLINE, handle.join())
        .await
        .unwrap()
        .unwrap_err();
    assert!(codes.contains(&error.code()), "{from} to {to}: {error}");
    let site = error.site();
    assert_eq!(site.table.unwrap().to_string(), "public.t");
    assert_eq!(site.column.unwrap().as_str(), "v");
    let rows = replicant_tests::compare::rows(&world.destination, "t").await;
    let ids: Vec<_> = rows.iter().map(|row| row[0].as_deref().unwrap()).collect();
    assert_eq!(ids, ["1", "2"], "{from} to {to}");
    // The watermark is exactly the transaction before: starting again stops at the same place.
    let watermark = world.watermark().await;
    let error = world
        .pipeline(world.specification(&["t"]).await.build())
        .await;
    let error = error.start().await.unwrap().join().await.unwrap_err();
    assert_eq!(error.code(), "type_pair_lossy");
    assert_eq!(world.watermark().await, watermark);
    // With a destination that is wide enough the same rows arrive.
    world
        .destination
        .batch_execute(&format!("alter table t alter v type {to}"))
        .await
        .unwrap();
    let handle = world.mirror(&["t"]).await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_varchar_widened_after_admission_stops_before_its_first_row() {
    halts_when_widened(
        "varchar(3)",
        "varchar(5)",
        "'abc'",
        "'abcde'",
        &["type_modifier_widened"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_numeric_widened_after_admission_is_not_rounded() {
    halts_when_widened(
        "numeric(5,2)",
        "numeric(8,4)",
        "1.25",
        "1.2345",
        &["type_modifier_widened"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seconds_widened_after_admission_are_not_rounded() {
    halts_when_widened(
        "timestamptz(0)",
        "timestamptz",
        "'2024-01-01 00:00:00+00'",
        "'2024-01-01 00:00:00.6+00'",
        &["type_modifier_widened"],
    )
    .await;
}
