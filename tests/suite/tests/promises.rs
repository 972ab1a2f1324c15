//! Is a field admitted exactly where its Rust type can hold every value of the source column?

use std::collections::BTreeSet;

use replicant_checkpoint::contract::resource::Storage;
use replicant_sink::doctor::{Verdict, preflight};
use replicant_tests::World;

/// Source types, one column each.
const TYPES: &[&str] = &[
    "boolean",
    "smallint",
    "integer",
    "bigint",
    "oid",
    "real",
    "double precision",
    "numeric",
    "numeric(9,2)",
    "money",
    "text",
    "varchar",
    "varchar(9)",
    "char(3)",
    "name",
    "\"char\"",
    "citext",
    "mood",
    "bytea",
    "uuid",
    "date",
    "time",
    "timetz",
    "timestamp",
    "timestamptz",
    "interval",
    "json",
    "jsonb",
    "xml",
    "inet",
    "point",
    "int4range",
    "pair",
    "bit(3)",
    "word",
    "amount",
    "text[]",
    "integer[]",
    "mood[]",
    "numbers",
    "int2vector",
    "hstore",
    "tsvector",
];

/// What each promise may stand on.
const PROMISES: &[(Storage, &[&str])] = &[
    (Storage::Bool, &["boolean"]),
    (Storage::Int2, &["smallint"]),
    (Storage::Int4, &["smallint", "integer"]),
    (Storage::Int8, &["smallint", "integer", "bigint"]),
    (Storage::Float4, &["real"]),
    (Storage::Float8, &["real", "double precision"]),
    (
        Storage::Text,
        &[
            "text",
            "varchar",
            "varchar(9)",
            "char(3)",
            "name",
            "\"char\"",
            "citext",
            "mood",
            "word",
        ],
    ),
    (Storage::Bytes, &["bytea"]),
    (
        Storage::Numeric,
        &[
            "smallint",
            "integer",
            "bigint",
            "numeric",
            "numeric(9,2)",
            "amount",
        ],
    ),
    (Storage::Uuid, &["uuid"]),
    (Storage::Date, &["date"]),
    (Storage::Time, &["time"]),
    (Storage::Timestamp, &["timestamp"]),
    (Storage::TimestampTz, &["timestamptz"]),
    (Storage::Json, &["json", "jsonb"]),
    (
        Storage::Array,
        &["text[]", "integer[]", "mood[]", "numbers"],
    ),
    (Storage::Any, TYPES),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_field_is_refused_unless_its_type_holds_every_value_of_the_column() {
    let columns: Vec<_> = TYPES
        .iter()
        .enumerate()
        .map(|(i, ty)| format!("c{i} {ty}"))
        .collect();
    let mut ddl = "create extension citext; create extension hstore; create type mood as enum ('a'); \
        create domain word as text; create domain amount as numeric(12,3); create domain numbers as int[]; \
        create type pair as (a int, b text);"
        .to_owned();
    for place in 0..PROMISES.len() {
        ddl += &format!(
            "create table p{place} (id int primary key, {});",
            columns.join(", ")
        );
    }
    let world = World::same(&ddl).await;
    let tables: Vec<_> = (0..PROMISES.len())
        .map(|place| format!("p{place}"))
        .collect();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    let mut spec = world.specification(&tables).await;
    for (resource, (storage, _)) in spec.resources.iter_mut().zip(PROMISES) {
        let mut columns = resource.columns.to_vec();
        for column in &mut columns[1..] {
            column.storage = *storage;
        }
        resource.columns = Vec::leak(columns);
    }
    let report = preflight(&world.pipeline(spec.build()).await).await;
    let mut refused = BTreeSet::new();
    for check in report
        .checks
        .iter()
        .filter(|check| check.status == Verdict::Fail)
    {
        let detail = check.detail.as_deref().unwrap();
        assert_eq!(check.reason, "type_pair_lossy", "{detail}");
        let place = detail
            .strip_prefix("table public.")
            .unwrap()
            .split_once(": ")
            .unwrap()
            .0;
        refused.insert(place.to_owned());
    }
    for (place, (storage, held)) in PROMISES.iter().enumerate() {
        for (column, ty) in TYPES.iter().enumerate() {
            let found = !refused.contains(&format!("p{place} column c{column}"));
            assert_eq!(found, held.contains(ty), "{storage:?} of {ty}");
        }
    }
}
