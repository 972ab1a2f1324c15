//! Every pair that is called lossless is tried on a server, value by value, in the form it would travel in.

use replicant_transport::source::PgType;
use tokio_postgres::Client;

use super::super::builtin::binary_form;
use super::super::catalog;
use super::super::pairs::{Pair, lossless, still_fits};
use super::super::render;
use super::cluster::Cluster;
use replicant_transport::ident::QualifiedName;

/// A type and values that a narrower one would spoil.
const TYPES: &[(&str, &[&str])] = &[
    ("smallint", &["-32768", "32767"]),
    ("integer", &["-2147483648", "2147483647"]),
    ("bigint", &["-9223372036854775808", "9223372036854775807"]),
    ("real", &["0.1", "3.4e38", "NaN", "-0"]),
    ("double precision", &["0.1", "1e300", "Infinity"]),
    (
        "numeric",
        &["123456789012345678901234567890.0010", "NaN", "1.0"],
    ),
    ("numeric(8,3)", &["99999.125", "-0.001"]),
    ("numeric(9,2)", &["9999999.99"]),
    ("numeric(12,4)", &["99999999.1234"]),
    ("numeric(20,0)", &["99999999999999999999"]),
    ("numeric(3,-2)", &["99900"]),
    ("text", &["", " x  ", "NULL", "\\x41", "{}"]),
    ("varchar", &["a   ", "long enough to be cut somewhere"]),
    ("varchar(5)", &["abcde", "a    "]),
    ("varchar(9)", &["abcdefghi"]),
    ("char(5)", &["a", "abcde"]),
    ("char(9)", &["a"]),
    ("\"char\"", &["x"]),
    ("name", &["a_name"]),
    ("boolean", &["t", "f"]),
    ("uuid", &["00000000-0000-0000-0000-0000000000ff"]),
    ("bytea", &["\\x00ff", "\\x"]),
    ("date", &["infinity", "0044-03-15 BC", "2024-02-29"]),
    ("time", &["24:00:00", "12:00:00.123456"]),
    ("time(3)", &["12:00:00.123"]),
    ("timetz", &["12:00:00.123456+05:30"]),
    ("timestamp", &["2024-02-29 12:00:00.123456", "-infinity"]),
    ("timestamp(3)", &["2024-02-29 12:00:00.123"]),
    ("timestamptz", &["2024-02-29 12:00:00.123456+05:30"]),
    ("timestamptz(0)", &["2024-02-29 12:00:00+00"]),
    ("interval", &["1 year 2 days 03:04:05.678901", "-1 mon"]),
    ("interval(2)", &["00:00:01.25"]),
    ("interval year to month", &["1 year 2 mons"]),
    ("bit(3)", &["101"]),
    ("bit(5)", &["10101"]),
    ("varbit(3)", &["10"]),
    ("varbit(9)", &["101010101"]),
    ("json", &["{\"b\":1, \"a\":1.0,\"a\":2}"]),
    ("jsonb", &["{\"a\": 1.00}"]),
    ("xml", &["<a/>"]),
    ("inet", &["10.0.0.1/8"]),
    ("cidr", &["10.0.0.0/8"]),
    ("macaddr", &["08:00:2b:01:02:03"]),
    ("point", &["(1,2)"]),
    ("box", &["(2,2),(1,1)"]),
    ("tsvector", &["'a':1 'b':2"]),
    ("pg_lsn", &["0/10"]),
    ("int4range", &["[1,5)", "empty"]),
    ("integer[]", &["{1,NULL}", "[2:3]={1,2}", "{}"]),
    ("bigint[]", &["{{1,2},{3,4}}"]),
    ("text[]", &["{NULL,\"NULL\",\"a,b\",\"\"}"]),
    ("varchar(5)[]", &["{abcde}"]),
    ("numeric(8,3)[]", &["{99999.125}"]),
    ("box[]", &["{(2,2),(1,1);(4,4),(3,3)}"]),
    ("s.mood", &["sad", "happy"]),
    ("s.mood[]", &["{sad,NULL}"]),
    ("s.short", &["abc"]),
    ("s.pair", &["(1,\"a,b\")"]),
    ("s.citext", &["MiXed"]),
    ("s.hstore", &["\"a\"=>\"1\""]),
];

const SETUP: &str = "create schema s;
    create extension citext schema s; create extension hstore schema s;
    create type s.mood as enum ('sad', 'happy');
    create domain s.short as varchar(5);
    create type s.pair as (a int, b text);
    set timezone = 'UTC'; set bytea_output = 'hex';";

/// A listed type, its values and the catalog's description of it.
struct Listed {
    name: &'static str,
    values: &'static [&'static str],
    ty: PgType,
}

/// Every listed type that the server knows, described by way of a table with one column each.
async fn listed(client: &Client) -> Vec<Listed> {
    client.batch_execute(SETUP).await.unwrap();
    let version: i32 = client
        .query_one("select current_setting('server_version_num')::int", &[])
        .await
        .unwrap()
        .get(0);
    let known = || {
        TYPES
            .iter()
            .filter(|(name, _)| version >= 150_000 || !name.contains(",-"))
    };
    let columns: Vec<_> = known()
        .enumerate()
        .map(|(index, (name, _))| format!("c{index} {name}"))
        .collect();
    client
        .batch_execute(&format!("create table s.types ({})", columns.join(", ")))
        .await
        .unwrap();
    let table = QualifiedName::new("s", "types").unwrap();
    let facts = catalog::read(client, &[&table]).await.unwrap();
    known()
        .zip(&facts.tables[0].columns)
        .map(|((name, values), column)| Listed {
            name,
            values,
            ty: column.ty().clone(),
        })
        .collect()
}

/// Values that differ after a trip through the destination column.
///
/// Text must stay the same text; only what pads with digits by definition may show the same value differently.
async fn spoilt(client: &Client, from: &str, to: &str, values: &[&str], cast: &str) -> i64 {
    let compared = if to.starts_with("numeric") {
        format!("n.c::{from}::pg_catalog.text = o.c::pg_catalog.text")
    } else {
        "pg_catalog.format('%s', n.c) = pg_catalog.format('%s', o.c)".to_owned()
    };
    let sql = format!(
        "create temporary table o (i bigint, c {from}); create temporary table n (i bigint, c {to});
         insert into o select i, v::{from} from unnest(array[{}]) with ordinality as v(v, i);
         insert into n select i, {cast} from o;",
        values
            .iter()
            .map(|value| format!("'{}'", value.replace('\'', "''")))
            .collect::<Vec<_>>()
            .join(", ")
    );
    client
        .batch_execute(&sql)
        .await
        .unwrap_or_else(|error| panic!("{from} into {to}: {error:?}"));
    let spoilt = client
        .query_one(
            &format!(
                "select count(*) filter (where ({compared}) is not true) from o join n using (i)"
            ),
            &[],
        )
        .await
        .unwrap()
        .get(0);
    client
        .batch_execute("drop table pg_temp.o, pg_temp.n")
        .await
        .unwrap();
    spoilt
}

#[tokio::test]
async fn every_lossless_pair_keeps_every_value_in_every_form_it_travels_in() {
    let cluster = Cluster::shared();
    let client = cluster.database().await;
    let types = listed(&client).await;
    let (mut same, mut different) = (0, 0);
    for Listed {
        name: from,
        values,
        ty: source,
    } in &types
    {
        for Listed {
            name: to,
            ty: target,
            ..
        } in &types
        {
            let Ok(pair) = lossless(source, target) else {
                assert_ne!(from, to, "every type holds its own values");
                continue;
            };
            if from == to {
                same += 1
            } else {
                different += 1
            }
            let base = render::base_type(target);
            let text = format!("pg_catalog.format('%s', c)::{base}");
            assert_eq!(
                spoilt(&client, from, to, values, &text).await,
                0,
                "{from} into {to} as text"
            );
            if pair != Pair::TextOnly && binary_form(source).is_some() {
                let bound = match source.base_kind {
                    replicant_transport::source::TypeKind::Enum => "pg_catalog.text".to_owned(),
                    _ => render::base_type(source),
                };
                let binary = format!("c::{bound}::{base}");
                assert_eq!(
                    spoilt(&client, from, to, values, &binary).await,
                    0,
                    "{from} into {to} as binary"
                );
            }
        }
    }
    assert_eq!(same, types.len());
    assert!(different > 120, "only {different} pairs were tried");
}

#[tokio::test]
async fn pairs_that_silently_lose_are_refused() {
    let cluster = Cluster::shared();
    let client = cluster.database().await;
    let types = listed(&client).await;
    let of = |name: &str| {
        let found = types.iter().find(|one| one.name == name);
        &found.unwrap_or_else(|| panic!("{name} is not listed")).ty
    };
    for (from, to) in [
        ("timestamptz", "timestamp"),
        ("timestamptz", "date"),
        ("timestamp", "timestamptz"),
        ("timestamp", "timestamp(3)"),
        ("interval", "interval(2)"),
        ("numeric", "numeric(9,2)"),
        ("numeric(12,4)", "numeric(9,2)"),
        ("numeric(8,3)", "numeric(9,2)"),
        ("bigint", "numeric(9,2)"),
        ("bigint", "integer"),
        ("double precision", "real"),
        ("bigint", "double precision"),
        ("text", "varchar(9)"),
        ("varchar(9)", "varchar(5)"),
        ("text", "name"),
        ("text", "bytea"),
        ("text", "char(9)"),
        ("char(5)", "char(9)"),
        ("bit(5)", "bit(3)"),
        ("json", "jsonb"),
        ("text", "json"),
        ("integer[]", "integer"),
        ("integer", "integer[]"),
        ("box[]", "text[]"),
        ("s.mood", "boolean"),
        ("s.pair", "s.mood"),
        ("text", "s.mood"),
    ] {
        assert!(lossless(of(from), of(to)).is_err(), "{from} into {to}");
    }
}

#[test]
fn a_stream_modifier_is_judged_like_a_declared_one() {
    let column = |source: i32, target: i32| crate::generation::Column {
        spec: Box::leak(Box::new(super::declared::any("v"))),
        source: super::source::ident("v"),
        formerly: Vec::new(),
        source_attnum: 1,
        source_type: numeric(source),
        target: super::source::ident("v"),
        target_type: numeric(target),
        target_identity: false,
        image: crate::generation::Image::Row,
        travel: crate::generation::Travel::Text {
            cast: crate::generation::Conversion::Cast(String::new()),
        },
    };
    let modifier = |precision: i32, scale: i32| ((precision << 16) | scale) + 4;
    let admitted = column(modifier(8, 2), modifier(10, 2));
    assert!(still_fits(&admitted, modifier(10, 2)));
    assert!(!still_fits(&admitted, modifier(10, 3)));
    assert!(!still_fits(&admitted, -1));
}

fn numeric(modifier: i32) -> PgType {
    let name = QualifiedName::new("pg_catalog", "numeric").unwrap();
    PgType {
        oid: 1700,
        name: name.clone(),
        kind: replicant_transport::source::TypeKind::Base,
        base_oid: 1700,
        base_name: name,
        base_kind: replicant_transport::source::TypeKind::Base,
        inside: replicant_transport::pg_type::Inside::Nothing,
        modifier,
    }
}
