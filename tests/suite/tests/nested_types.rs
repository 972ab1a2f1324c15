//! Are types compared by what they are made of, down to the server's own, and is text read as the type itself reads it?

use std::collections::BTreeMap;

use replicant_checkpoint::contract::resource::TableName;
use replicant_sink::doctor::{Verdict, preflight};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{refused, shown_statement};
use replicant_tests::specification::Specification;

/// One pair of definitions under one name.
struct Pair {
    /// Makes what the type is built from, the same on both sides.
    parts: &'static str,
    /// Makes the type `x` on the source.
    source: &'static str,
    /// Makes the type `x` in the destination.
    destination: &'static str,
    /// The type of the mirrored column.
    column: &'static str,
    /// Where the definitions part, or nothing when every value survives.
    differs: Option<&'static str>,
}

const SAME: Pair = Pair {
    parts: "",
    source: "",
    destination: "",
    column: "x",
    differs: None,
};

const PAIRS: &[Pair] = &[
    Pair {
        source: "create type x as (a int, n numeric(9,3))",
        destination: "create type x as (a int, n numeric(9,2))",
        differs: Some("\"v\".n"),
        ..SAME
    },
    Pair {
        source: "create type x as (a int, n numeric(9,2))",
        destination: "create type x as (a bigint, n numeric)",
        ..SAME
    },
    Pair {
        source: "create type x as (a int, b int)",
        destination: "create type x as (b int, a int)",
        differs: Some("\"v\".a"),
        ..SAME
    },
    Pair {
        source: "create type x as (a int)",
        destination: "create type x as (a int, b int)",
        differs: Some("\"v\".b"),
        ..SAME
    },
    Pair {
        source: "create type x as (a timestamptz[])",
        destination: "create type x as (a timestamp[])",
        differs: Some("\"v\".a[]"),
        ..SAME
    },
    Pair {
        parts: "create type mood as enum ('sad')",
        source: "create type inner_x as (m mood, f float8); create type x as (i inner_x[])",
        destination: "create type inner_x as (m mood, f float4); create type x as (i inner_x[])",
        differs: Some("\"v\".i[].f"),
        ..SAME
    },
    Pair {
        source: "create domain x as numeric(12,3)",
        destination: "create domain x as numeric(12,2)",
        column: "x[]",
        differs: Some("\"v\"[]"),
        ..SAME
    },
    Pair {
        source: "create domain y as numeric(12,3); create domain x as y",
        destination: "create domain x as numeric(14,4)",
        column: "x[]",
        ..SAME
    },
    Pair {
        source: "create domain x as int[]",
        destination: "create domain x as bigint[]",
        ..SAME
    },
    Pair {
        source: "create type x as range (subtype = float8)",
        destination: "create type x as range (subtype = float4)",
        differs: Some("\"v\" bounds"),
        ..SAME
    },
    Pair {
        source: "create type x as range (subtype = text, collation = \"C\")",
        destination: "create type x as range (subtype = text, collation = \"POSIX\")",
        differs: Some("\"v\" bounds"),
        ..SAME
    },
    Pair {
        source: "create type x as range (subtype = text, collation = \"C\")",
        destination: "create type x as range (subtype = text, collation = \"C\")",
        ..SAME
    },
    Pair {
        source: "create type x as enum ('a', 'zzsecret')",
        destination: "create type x as enum ('a')",
        differs: Some("\"v\" label 2"),
        ..SAME
    },
    Pair {
        source: "create type x as enum ('a', 'b')",
        destination: "create type x as enum ('c', 'b', 'a')",
        column: "x[]",
        ..SAME
    },
    Pair {
        source: "create type x as enum ('a')",
        destination: "create domain x as text",
        ..SAME
    },
    Pair {
        source: "create type x as (a int)",
        destination: "create domain x as int",
        differs: Some("destination"),
        ..SAME
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn types_of_one_name_are_compared_down_to_the_part_that_would_lose_something() {
    let side = |pick: fn(&Pair) -> &'static str| -> String {
        let schemas = PAIRS.iter().enumerate().map(|(number, pair)| {
            format!(
                "create schema s{number}; set search_path = s{number}; {}; {}; \
                 create table s{number}.t (id int primary key, v {});",
                pair.parts,
                pick(pair),
                pair.column
            )
        });
        format!("{} reset search_path", schemas.collect::<String>())
    };
    let world = World::new(&side(|pair| pair.source), &side(|pair| pair.destination)).await;
    let schemas: Vec<String> = (0..PAIRS.len())
        .map(|number| format!("s{number}"))
        .collect();
    let tables: Vec<_> = schemas
        .iter()
        .map(|schema| (schema.as_str(), "t"))
        .collect();
    let spec = Specification::of_named(&world.destination, world.slot, &tables);
    let report = preflight(&world.pipeline(spec.await.build()).await).await;
    let refused: BTreeMap<&str, &str> = report
        .checks
        .iter()
        .filter(|check| check.status == Verdict::Fail)
        .map(|check| {
            assert_eq!(check.reason, "type_pair_lossy", "{check:?}");
            let detail = check.detail.as_deref().unwrap();
            let table = detail.strip_prefix("table ").unwrap();
            (table.split_once('.').unwrap().0, detail)
        })
        .collect();
    for (schema, pair) in schemas.iter().zip(PAIRS) {
        let found = refused.get(schema.as_str());
        let case = format!("{} into {}", pair.source, pair.destination);
        match pair.differs {
            None => assert_eq!(found, None, "{case}"),
            Some(path) => {
                let detail = found.unwrap_or_else(|| panic!("{case} is admitted"));
                assert!(detail.contains(path), "{case}: {detail}");
                assert!(!detail.contains("zzsecret"), "a label is printed");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_nested_types_arrive_as_they_are() {
    let types = |n: &str, f: &str| {
        format!(
            "create type mood as enum ('sad', 'h,a\"p{{py'); create domain amount as {n};
             create type pair as (a {f}, b text, m mood, n amount[]);
             create type span as range (subtype = pair);
             create table t (id int primary key, p pair, ps pair[], s span, ns amount[])"
        )
    };
    let world = World::new(
        &types("numeric(9,3)", "int"),
        &types("numeric(12,4)", "bigint"),
    )
    .await;
    let spec = world.specification(&["t"]).await.with("t", |resource| {
        // The range is over a type that differs, which is refused.
        resource.columns = Vec::leak(
            resource
                .columns
                .iter()
                .filter(|column| column.target != "s")
                .copied()
                .collect(),
        );
        resource.skips = &["s"];
    });
    let handle = world.start(spec.build()).await;
    world
        .run(
            "insert into t (id, p, ps, ns) values
             (1, row(1, 'x,\"(\\\\', 'h,a\"p{py', '{1.125,null}'), array[row(2, '', null, '{}')::pair, null], '{7.125}'),
             (2, null, '{}', null); update t set ps = ps || row(3, null, 'sad', null)::pair where id = 1",
        )
        .await;
    world.caught_up().await;
    let both = "select string_agg(format('%s|%s|%s|%s|%s', id, (p).b, (p).m, (ps[3]).m, (ns[1])::float8), ' ' order by id) from t";
    let expected: String = world.source.query_one(both, &[]).await.unwrap().get(0);
    assert_eq!(world.destination_text(both).await, expected);
    handle.stop().await.unwrap();
}

/// Types with a declared cast from text that does not do what the type's input function does.
const CASTS: &str = "create extension citext;
    create type shout; create function shout_in(cstring) returns shout language internal immutable strict as 'textin';
    create function shout_out(shout) returns cstring language internal immutable strict as 'textout';
    create type shout (input = shout_in, output = shout_out, like = text);
    create type mood as enum ('sad', 'happy');
    create type pair as (a int, b text);
    create domain note as shout;
    create function as_shout(text) returns shout language sql immutable as 'select ''cast''::shout';
    create function as_mood(text) returns mood language sql immutable as 'select ''sad''::mood';
    create function as_pair(text) returns pair language sql immutable as 'select row(0, ''cast'')::pair';
    create cast (text as shout) with function as_shout(text);
    create cast (text as mood) with function as_mood(text);
    create cast (text as pair) with function as_pair(text)";

#[tokio::test(flavor = "multi_thread")]
async fn text_is_read_by_the_types_input_function_whatever_casts_are_declared() {
    let columns = "s shout, n note, m mood, p pair, a int[], c citext, x xml, k \"char\", r regclass, j jsonb, ms mood[]";
    // The second table's values all have a binary form, so its stream would be binary on its own.
    let ddl = format!(
        "{CASTS}; create table t (id int primary key, {columns}); \
         create table keyed (m mood primary key, v text)"
    );
    let row = |id: i32| {
        format!(
            "({id}, 'direct', 'domain', 'happy', '(7,x)', '{{1,2}}', 'CiText', '<a>&lt;</a>', 'k', \
             'pg_class', '{{\"a\": 1.50}}', '{{happy,sad}}')"
        )
    };
    for tables in [&["t", "keyed"][..], &["keyed"]] {
        let world = World::same(&ddl).await;
        let mut spec = world.specification(tables).await;
        if !tables.contains(&"t") {
            spec.ignored.push(TableName {
                schema: "public",
                table: "t",
            });
        }
        let handle = world.start(spec.build()).await;
        world.run("insert into keyed values ('happy', 'a')").await;
        // By set statements, and by COPY, which needs many rows at once.
        world.run(&format!("insert into t values {}", row(1))).await;
        world.caught_up().await;
        let many: Vec<_> = (2..700).map(row).collect();
        world
            .run(&format!("insert into t values {}", many.join(", ")))
            .await;
        world
            .run(
                "update t set s = 'again' where id < 3; update keyed set v = 'b'; \
                  insert into keyed values ('sad', 'c'); delete from keyed where m = 'sad'",
            )
            .await;
        assert_equal(&world, tables).await;
        handle.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cast_from_text_to_an_array_type_is_refused_with_the_statement_that_drops_it() {
    let cast = "create function as_numbers(text) returns int[] language sql immutable as 'select array[0]';
        create cast (text as int[]) with function as_numbers(text)";
    let table = "create table t (id int primary key, a int[])";
    let world = World::new(table, &format!("{table}; {cast}")).await;
    let pipeline = world
        .pipeline(world.specification(&["t"]).await.build())
        .await;
    let error = refused(&pipeline).await;
    assert_eq!(error.code(), "type_pair_lossy", "{error}");
    world
        .destination
        .batch_execute(&shown_statement(&error))
        .await
        .unwrap();
    world.mirror(&["t"]).await.stop().await.unwrap();
}
