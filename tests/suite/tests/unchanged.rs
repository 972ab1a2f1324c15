//! Does a large value that an update did not send stay what it was?

use replicant_test_servers::Installation;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;

/// Wide types and an expression of `seed` that makes a value too long to be kept in the row, hardly compressible.
const WIDE: &[(&str, &str)] = &[
    ("text", "noise(seed)"),
    ("varchar", "noise(seed)"),
    ("bytea", "decode(noise(seed), 'hex')"),
    ("jsonb", "jsonb_build_object('v', noise(seed))"),
    ("json", "json_build_object('v', noise(seed))"),
    ("xml", "xmlelement(name v, noise(seed))"),
    (
        "numeric",
        "(select string_agg(translate(md5(seed::text || i), 'abcdef', '123456'), '') \
      from generate_series(1, 300) i)::numeric",
    ),
    (
        "text[]",
        "array[noise(seed), null, 'NULL', '', noise(seed + 1)]",
    ),
    (
        "integer[]",
        "(select array_agg(hashint4(i + seed)) from generate_series(1, 4000) i)",
    ),
    (
        "date[]",
        "(select array_agg(date '2000-01-01' + hashint4(i + seed) % 99999) from generate_series(1, 4000) i)",
    ),
    (
        "uuid[]",
        "(select array_agg(md5((i + seed)::text)::uuid) from generate_series(1, 1000) i)",
    ),
    ("json[]", "array[json_build_object('v', noise(seed)), null]"),
    ("hstore", "hstore('a', noise(seed)) || 'b=>NULL'"),
    ("citext", "noise(seed)::citext"),
    (
        "tsvector",
        "(select string_agg(md5((i + seed)::text), ' ') from generate_series(1, 500) i)::tsvector",
    ),
    (
        "bit varying",
        "(select string_agg(hashint4(i + seed)::bit(32)::text, '') from generate_series(1, 4000) i)::varbit",
    ),
    (
        "polygon",
        "(select '(' || string_agg(format('(%s,%s)', hashint4(i + seed), i), ',') || ')' \
      from generate_series(1, 1000) i)::polygon",
    ),
    ("pair", "(1, noise(seed))::pair"),
    ("word", "noise(seed)"),
    (
        "int4multirange",
        "(select range_agg(int4range(i * 1000, i * 1000 + 1 + abs(hashint4(i + seed) % 998))) \
      from generate_series(1, 1000) i)",
    ),
];

/// Those that the server has; multiranges came with PostgreSQL 14.
fn wide() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let major = Installation::selected().unwrap().major();
    WIDE.iter()
        .filter(move |(ty, _)| major >= 14 || !ty.ends_with("multirange"))
}

const SETUP: &str = "create extension hstore; create extension citext;
    create type pair as (a int, b text); create domain word as text;
    create function noise(seed int) returns text language sql immutable as
        $$ select string_agg(md5(seed::text || '.' || i), '') from generate_series(1, 200) i $$;";

#[derive(Clone, Copy)]
enum Identity {
    Default,
    Full,
}

/// A table per wide type, `big` in it stored out of line whatever its size.
fn ddl(identity: Identity, nullable: &str) -> String {
    let mut ddl = SETUP.to_owned();
    for (index, (ty, _)) in wide().enumerate() {
        ddl += &format!(
            "create table t{index} (id int primary key, n int, big {ty} {nullable}, other {ty});
             alter table t{index} alter big set storage external, alter other set storage external;"
        );
        if matches!(identity, Identity::Full) {
            ddl += &format!("alter table t{index} replica identity full;");
        }
    }
    ddl
}

fn tables() -> Vec<String> {
    wide()
        .enumerate()
        .map(|(index, _)| format!("t{index}"))
        .collect()
}

/// One statement for every table in one transaction; `$t` is the table, `big(n)` a value made from seed `n`.
async fn each(world: &World, statement: &str) {
    let mut all = String::new();
    for (index, (_, make)) in wide().enumerate() {
        let mut sql = statement.replace("$t", &format!("t{index}"));
        for seed in 1..=9 {
            sql = sql.replace(
                &format!("big({seed})"),
                &make.replace("seed", &seed.to_string()),
            );
        }
        all += &sql;
        all.push(';');
    }
    world.run(&format!("begin; {all} commit")).await;
}

async fn agree(world: &World) {
    let tables = tables();
    let names: Vec<&str> = tables.iter().map(String::as_str).collect();
    assert_equal(world, &names).await;
}

/// Is any value of `big` stored out of line? Otherwise these tests would test nothing.
async fn assert_out_of_line(world: &World) {
    for table in tables() {
        let sql = format!(
            "select pg_relation_size(reltoastrelid) > 0 from pg_class where oid = '{table}'::regclass"
        );
        let stored: bool = world.source.query_one(&sql, &[]).await.unwrap().get(0);
        assert!(stored, "{table} stores everything in line");
    }
}

async fn every_wide_type(identity: Identity, nullable: &str) {
    let world = World::same(&ddl(identity, nullable)).await;
    let tables = tables();
    let names: Vec<&str> = tables.iter().map(String::as_str).collect();
    let handle = world.mirror(&names).await;
    each(
        &world,
        "insert into $t values (1, 0, big(1), big(2)), (2, 0, big(3), null), (3, 0, big(4), big(5)), (4, 0, big(6), big(7)), (5, 0, big(8), big(9))",
    )
    .await;
    assert_out_of_line(&world).await;
    each(&world, "update $t set n = 1").await;
    agree(&world).await;
    // The first changes one wide column, the second leaves it out, the third changes the other.
    each(
        &world,
        "update $t set big = big(9) where id = 1; update $t set n = 2 where id = 1; \
         update $t set other = big(8) where id = 1; update $t set n = 3 where id = 1",
    )
    .await;
    // Different columns are left out for different rows of one batch.
    each(
        &world,
        "update $t set other = big(1) where id = 2; update $t set big = big(2) where id = 3; \
         update $t set n = 9 where id = 4; update $t set other = null where id = 5",
    )
    .await;
    agree(&world).await;
    // Inserted and updated in one transaction; the key changes while nothing wide is sent.
    each(
        &world,
        "insert into $t values (6, 0, big(1), big(2)); update $t set n = 1 where id = 6; \
         update $t set id = 16 where id = 6; update $t set n = 2 where id = 16; \
         update $t set id = 14 where id = 4; update $t set n = 7 where id = 14",
    )
    .await;
    // The key changes alone, then twice around with another row taking its place.
    each(
        &world,
        "update $t set id = 13 where id = 3; update $t set id = 3 where id = 1; \
         update $t set id = 1, n = 8 where id = 3; update $t set id = 23, big = big(5) where id = 13",
    )
    .await;
    agree(&world).await;
    each(
        &world,
        "delete from $t where id = 2; update $t set n = n + 1",
    )
    .await;
    agree(&world).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_were_not_sent_stay_under_the_default_identity() {
    every_wide_type(Identity::Default, "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_were_not_sent_stay_where_null_is_not_allowed() {
    every_wide_type(Identity::Default, "not null").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_were_not_sent_stay_under_a_full_identity() {
    every_wide_type(Identity::Full, "not null").await;
}

/// Only what the binary form can carry, so that the stream is binary.
#[tokio::test(flavor = "multi_thread")]
async fn values_that_were_not_sent_stay_in_a_binary_stream() {
    let ddl = format!(
        "{SETUP} create table wide (id int primary key, a text not null, b bytea, c jsonb, n int);
         create table narrow (id int primary key, n int);
         alter table wide alter a set storage external, alter b set storage external, \
            alter c set storage external;"
    );
    let world = World::same(&ddl).await;
    let handle = world.mirror(&["wide", "narrow"]).await;
    let value = "noise(i), decode(noise(i + 1), 'hex'), jsonb_build_object('v', noise(i + 2))";
    world
        .run(&format!(
            "insert into wide select i, {value}, 0 from generate_series(1, 20) i;
             insert into narrow select i, 0 from generate_series(1, 20) i"
        ))
        .await;
    // Tables with and without values left out, and every subset of the wide columns, in one batch.
    world
        .run(
            "begin;
             update wide set a = case when id & 1 > 0 then noise(100 + id) else a end,
                 b = case when id & 2 > 0 then decode(noise(200 + id), 'hex') else b end,
                 c = case when id & 4 > 0 then jsonb_build_object('w', noise(300 + id)) else c end,
                 n = n + 1;
             update narrow set n = 1;
             update wide set n = n + 1;
             update narrow set n = 2 where id % 2 = 0;
             update wide set b = null where id > 16;
             update wide set n = n + 1;
             commit",
        )
        .await;
    assert_equal(&world, &["wide", "narrow"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_key_that_was_not_sent_still_finds_its_row() {
    let ddl = format!(
        "{SETUP} create table t (k text, part int, n int, primary key (k, part));
         alter table t alter k set storage external;
         create table whole (k text not null, n int); alter table whole alter k set storage external;
         alter table whole replica identity full;"
    );
    let world = World::same(&ddl).await;
    let handle = world.mirror(&["t", "whole"]).await;
    // A key must fit its index: 2560 bytes are moved out of line and still indexable.
    world
        .run(
            "insert into t select left(noise(i), 2560), i, 0 from generate_series(1, 5) i;
             insert into whole select noise(i), 0 from generate_series(1, 5) i",
        )
        .await;
    world
        .run("update t set n = 1; update whole set n = 1")
        .await;
    world
        .run("update t set part = part + 10 where part < 3; update whole set n = 2 where n = 1")
        .await;
    world
        .run("delete from t where part = 3; update t set n = 4")
        .await;
    assert_equal(&world, &["t", "whole"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_changes_nothing_that_is_sent_is_no_statement_and_no_error() {
    let ddl = format!(
        "{SETUP} create table t (id int primary key, big text not null);
         alter table t alter big set storage external;"
    );
    let world = World::same(&ddl).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t select i, noise(i) from generate_series(1, 3) i")
        .await;
    world
        .run("update t set id = id; update t set big = big")
        .await;
    world
        .run("begin; update t set id = id; update t set id = 9 where id = 3; commit")
        .await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn null_is_null_and_a_value_that_was_not_sent_is_not() {
    let ddl = format!(
        "{SETUP} create table t (id int primary key, big text, n int);
         alter table t alter big set storage external;"
    );
    let world = World::same(&ddl).await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t select i, noise(i), 0 from generate_series(1, 4) i")
        .await;
    world
        .run(
            "begin; update t set big = null where id = 1; update t set n = 1; \
             update t set big = noise(7) where id = 1; update t set big = null where id = 2; \
             update t set n = 2; commit",
        )
        .await;
    world.run("update t set big = null where id = 3; update t set n = 3; insert into t values (5, null, 0)").await;
    world.run("update t set n = 4").await;
    assert_equal(&world, &["t"]).await;
    let nulls = "select string_agg(id::text, ',' order by id) from t where big is null";
    assert_eq!(world.destination_text(nulls).await, "2,3,5");
    handle.stop().await.unwrap();
}
