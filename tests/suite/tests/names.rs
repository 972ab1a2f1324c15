//! Do tables and columns of any legal name and number arrive?

use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::specification::Specification;

/// Names that break whoever forgets to quote, folds case, splits at dots, or uses the name for something of its own.
const NAMES: &[&str] = &[
    "Id",
    "id",
    "ID",
    "select",
    "user",
    "table",
    "a b",
    " lead and trail ",
    "dot.ted",
    "quo\"te",
    "\"\"",
    "it's",
    "back\\slash",
    "$1",
    "%s",
    "{}",
    "ünï",
    "Ünï 🦀",
    "--",
    "/*",
    ";",
    "63_bytes_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1",
    "63_bytes_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2",
    "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüü_",
    "excluded",
    "old",
    "new",
    "t",
    "u",
    "n",
    "one",
    "part",
    "place",
    "a1",
    "c1",
    "null",
    "true",
    "default",
    "row",
    "pg_catalog",
    "oid",
    "public",
];

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

async fn started(world: &World, tables: &[(&str, &str)]) -> Handle {
    let spec = Specification::of_named(&world.destination, world.slot, tables).await;
    world.start(spec.build()).await
}

/// Inserts, updates, changes the key of and deletes rows of a table with a key and payload columns.
async fn exercise(world: &World, table: &str, key: &str, payload: &[String]) {
    let set = |value: &str| -> String {
        let each: Vec<_> = payload
            .iter()
            .map(|name| format!("{name} = {value}"))
            .collect();
        each.join(", ")
    };
    let columns: Vec<_> = std::iter::once(key.to_owned())
        .chain(payload.iter().cloned())
        .collect();
    let values: Vec<_> = (0..payload.len())
        .map(|place| format!("i + {place}"))
        .collect();
    world
        .run(&format!(
            "insert into {table} ({}) select i, {} from generate_series(1, 6) i",
            columns.join(", "),
            values.join(", ")
        ))
        .await;
    world
        .run(&format!(
            "update {table} set {} where {key} < 3; update {table} set {key} = {key} + 10 where {key} > 4; \
             delete from {table} where {key} = 4",
            set("7")
        ))
        .await;
    world
        .run(&format!("insert into {table} ({key}) values (99)"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_of_any_name_arrive() {
    let columns: Vec<_> = NAMES.iter().map(|name| quoted(name)).collect();
    let (key, payload) = columns.split_first().unwrap();
    let each: Vec<_> = payload.iter().map(|name| format!("{name} int")).collect();
    let constraints = "constraint \"P\"\".k\" primary key";
    let world = World::same(&format!(
        "create table keyed ({key} int, {0}, {constraints} ({key}));
         create table composite ({key} int, {0}, primary key ({key}, {1}));
         create table whole ({key} int, {0}); alter table whole replica identity full;
         create table texts ({2}, primary key ({key}))",
        each.join(", "),
        payload[1],
        columns
            .iter()
            .map(|name| format!("{name} text"))
            .collect::<Vec<_>>()
            .join(", "),
    ))
    .await;
    let handle = world
        .mirror(&["keyed", "composite", "whole", "texts"])
        .await;
    exercise(&world, "keyed", key, payload).await;
    world
        .run(&format!(
            "insert into composite ({key}, {}) values (1, 2), (1, 3)",
            payload[1]
        ))
        .await;
    world
        .run(&format!(
            "update composite set {0} = {0} + 1 where {0} = 3",
            payload[1]
        ))
        .await;
    world
        .run(&format!("insert into whole ({key}) values (1), (1), (2)"))
        .await;
    world
        .run(&format!(
            "update whole set {} = 5 where {key} = 1",
            payload[2]
        ))
        .await;
    world
        .run(&format!("delete from whole where {key} = 2"))
        .await;
    let values: Vec<_> = NAMES.iter().map(|name| format!("$x${name}$x$")).collect();
    world
        .run(&format!("insert into texts values ({})", values.join(", ")))
        .await;
    assert_equal(&world, &["keyed", "composite", "whole", "texts"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_and_schemas_of_any_name_arrive() {
    let mut ddl = String::new();
    let mut tables = Vec::new();
    // Every name once as a schema, with a table named like the schema and one named like the next.
    let schemas: Vec<&str> = NAMES
        .iter()
        .copied()
        .filter(|name| !matches!(*name, "public" | "pg_catalog"))
        .collect();
    for (index, schema) in schemas.iter().enumerate().step_by(3) {
        ddl += &format!("create schema {};", quoted(schema));
        for table in [schemas[index], schemas[(index + 1) % schemas.len()]] {
            tables.push((*schema, table));
            let (schema, table) = (quoted(schema), quoted(table));
            ddl += &format!(
                "create table {schema}.{table} ({table} int, v int, primary key ({table}), \
                 constraint {schema} check (v is null or v >= 0));"
            );
        }
    }
    let world = World::same(&ddl).await;
    let handle = started(&world, &tables).await;
    let mut names = Vec::new();
    for (schema, table) in &tables {
        let name = format!("{}.{}", quoted(schema), quoted(table));
        exercise(&world, &name, &quoted(table), &["v".to_owned()]).await;
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_equal(&world, &names).await;
    world.run(&format!("truncate {}", names.join(", "))).await;
    assert_equal(&world, &names).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_table_name_in_two_schemas_is_two_tables() {
    let world = World::same(
        "create schema a; create schema \"A\";
         create type a.t_v as enum ('x'); create type \"A\".t_v as enum ('X');
         create table a.t (id int primary key, v a.t_v);
         create table \"A\".t (id text primary key, other int, v \"A\".t_v);
         create table public.t (v text, id bigint primary key)",
    )
    .await;
    let handle = started(&world, &[("a", "t"), ("A", "t"), ("public", "t")]).await;
    world
        .run(
            "begin; insert into a.t values (1, 'x'); insert into \"A\".t values ('1', 2, 'X');
             insert into public.t values ('one', 1); commit;
             begin; update a.t set id = 2; update \"A\".t set other = 3; delete from public.t; commit",
        )
        .await;
    assert_equal(&world, &["a.t", "\"A\".t", "public.t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn constraints_of_any_name_are_deferred_and_kept() {
    let parent = quoted("Par.ent \"p\"");
    let world = World::same(&format!(
        "create schema \"S.\"\"1\"; create schema \"S.\"\"2\";
         create table \"S.\"\"1\".{parent} (id int, constraint \"U\"\".q\" primary key (id));
         create table \"S.\"\"2\".child (id int primary key, \"Up\" int, constraint \"F\"\".k\" foreign key (\"Up\") \
             references \"S.\"\"1\".{parent} deferrable, constraint \"u u\" unique (\"Up\") deferrable);
         create table \"S.\"\"1\".child (id int primary key, \"Up\" int, constraint \"F\"\".k\" foreign key (\"Up\") \
             references \"S.\"\"1\".{parent} deferrable initially deferred)"
    ))
    .await;
    let tables = [
        ("S.\"1", "Par.ent \"p\""),
        ("S.\"2", "child"),
        ("S.\"1", "child"),
    ];
    let handle = started(&world, &tables).await;
    world
        .run(&format!(
            "begin; set constraints all deferred;
             insert into \"S.\"\"2\".child values (1, 1), (2, 2); insert into \"S.\"\"1\".child values (1, 1);
             insert into \"S.\"\"1\".{parent} values (1), (2); commit;
             begin; set constraints all deferred;
             update \"S.\"\"2\".child set \"Up\" = 3 - \"Up\"; commit"
        ))
        .await;
    let names: Vec<_> = tables
        .iter()
        .map(|(s, t)| format!("{}.{}", quoted(s), quoted(t)))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_equal(&world, &names).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_as_wide_as_they_come_arrive() {
    let columns = |count: usize, ty: &str| -> String {
        let each: Vec<_> = (1..=count).map(|place| format!("c{place} {ty}")).collect();
        each.join(", ")
    };
    // 1600 is what a table can have.
    let world = World::same(&format!(
        "create table numbers (id int primary key, {}); create table texts (id int primary key, {});",
        columns(1599, "smallint"),
        columns(300, "text")
    ))
    .await;
    let handle = world.mirror(&["numbers", "texts"]).await;
    let all = |count: usize, value: &str| vec![value; count].join(", ");
    world
        .run(&format!(
            "insert into numbers select i, {} from generate_series(1, 3) i;
             insert into texts select i, {} from generate_series(1, 5) i",
            all(1599, "i"),
            all(300, "'it''s ' || i")
        ))
        .await;
    world
        .run(
            "update numbers set c1 = 7, c1599 = null where id < 3; delete from numbers where id = 3;
             update texts set c300 = 'x', c7 = null where id > 2; update texts set id = 9 where id = 1",
        )
        .await;
    assert_equal(&world, &["numbers", "texts"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_nothing_but_its_key_arrives() {
    let world = World::same(
        "create table one (id int primary key); create table two (a text, b numeric, primary key (b, a));
         create table whole (id int); alter table whole replica identity full",
    )
    .await;
    let handle = world.mirror(&["one", "two", "whole"]).await;
    world
        .run(
            "insert into one values (1), (2), (3); insert into two values ('x', 1.0), ('y', 1.00), ('x', 2);
             insert into whole values (1), (1), (null)",
        )
        .await;
    world
        .run(
            "update one set id = 4 where id = 1; update one set id = id where id = 2; delete from one where id = 3;
             update two set b = 1.000 where a = 'x' and b = 1; delete from two where a = 'y';
             update whole set id = 2 where id is null",
        )
        .await;
    assert_equal(&world, &["one", "two", "whole"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn seventy_columns_by_a_thousand_rows_arrive_in_one_transaction() {
    let columns: Vec<_> = (1..70).map(|place| format!("c{place} text")).collect();
    let world = World::same(&format!(
        "create table t (id int primary key, {})",
        columns.join(", ")
    ))
    .await;
    let handle = world.mirror(&["t"]).await;
    let values: Vec<_> = (1..70).map(|place| format!("i * {place}")).collect();
    world
        .run(&format!(
            "insert into t select i, {} from generate_series(1, 1000) i",
            values.join(", ")
        ))
        .await;
    world
        .run("update t set c69 = 'x' || id, c1 = null; delete from t where id % 7 = 0")
        .await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}
