//! What a generation says about setups that are admitted.

use replicant_checkpoint::contract::resource::Storage;
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::ident::QualifiedName;
use replicant_transport::sink::ValueFormat;
use tokio_postgres::Client;

use super::super::{DestinationConstraints, Request, Values, admit};
use super::cluster::Cluster;
use super::declared::{any, column, found_by, resource, sink};
use super::source;
use crate::generation::{
    Constraints, Conversion, CopyBinary, DeleteAndReinsert, Folding, Generation, Notice, RowMatch,
    Travel,
};

async fn admitted(setup: &str, spec: &SinkSpec, constraints: DestinationConstraints) -> Generation {
    let cluster = Cluster::shared();
    let client = cluster.database().await;
    admitted_in(&client, setup, spec, constraints).await
}

async fn admitted_in(
    client: &Client,
    setup: &str,
    spec: &SinkSpec,
    constraints: DestinationConstraints,
) -> Generation {
    client.batch_execute(setup).await.unwrap();
    let session = source::session(client).await;
    let request = Request {
        spec,
        constraints,
        values: Values::Fastest,
        code: &[],
    };
    admit(&request, &session, client)
        .await
        .unwrap_or_else(|refused| panic!("{refused}"))
}

#[tokio::test]
async fn a_shop_is_admitted_in_binary_with_parents_first() {
    let spec = sink(&[
        resource(
            "lines",
            &[any("order_id"), any("line"), any("price")],
            &["order_id", "line"],
        ),
        resource(
            "orders",
            &[
                any("id"),
                column("email", Storage::Text),
                any("placed"),
                any("state"),
            ],
            &["id"],
        ),
    ]);
    let generation = admitted(
        "create type public.state as enum ('new', 'paid');
         create table public.orders (id int primary key, email varchar(60), placed timestamptz not null,
             state public.state);
         create table public.lines (order_id int, line smallint, price numeric(10,2),
             primary key (line, order_id));
         create schema mirror;
         create domain mirror.amount as numeric check (value >= 0);
         create table mirror.orders (id bigint generated always as identity primary key,
             email text unique deferrable, placed timestamptz, state public.state);
         create table mirror.lines (order_id bigint references mirror.orders deferrable,
             line smallint, price mirror.amount, note text default '', primary key (line, order_id));",
        &spec,
        DestinationConstraints::Deferred,
    )
    .await;

    assert_eq!(generation.format, ValueFormat::Binary);
    let names: Vec<_> = generation
        .tables
        .iter()
        .map(|table| table.target.to_string())
        .collect();
    assert_eq!(names, ["mirror.orders", "mirror.lines"]);
    for (index, table) in generation.tables.iter().enumerate() {
        assert_eq!(generation.by_source.get(&table.source), Some(&index));
    }
    let Constraints::Deferred {
        foreign_keys,
        unique,
    } = &generation.constraints
    else {
        panic!("deferred");
    };
    assert_eq!(foreign_keys[0].to_string(), "mirror.lines_order_id_fkey");
    assert_eq!(unique[0].to_string(), "mirror.orders_email_key");
    assert_eq!((foreign_keys.len(), unique.len()), (1, 1));

    let [orders, lines] = generation.tables.as_slice() else {
        panic!("two tables");
    };
    assert!(orders.overriding_system_value && orders.columns[0].target_identity);
    assert!(!lines.overriding_system_value);
    assert_eq!(orders.delete_and_reinsert, DeleteAndReinsert::Allowed);
    // Only the destination has the notes.
    assert_eq!(lines.delete_and_reinsert, DeleteAndReinsert::Forbidden);
    let travels: Vec<_> = orders
        .columns
        .iter()
        .map(|one| one.travel.clone())
        .collect();
    let binary = |element_oid, array_oid, cast: Option<&str>, copy| Travel::Binary {
        element_oid,
        array_oid,
        cast: cast.map(|ty| Conversion::Cast(ty.to_owned())),
        copy,
    };
    assert_eq!(
        travels,
        [
            binary(
                23,
                1007,
                Some("\"pg_catalog\".\"int8\""),
                CopyBinary::NeedsCast
            ),
            binary(
                1043,
                1015,
                Some("\"pg_catalog\".\"text\""),
                CopyBinary::Same
            ),
            binary(1184, 1185, None, CopyBinary::Same),
            binary(25, 1009, Some("\"public\".\"state\""), CopyBinary::Same),
        ]
    );
    // A domain is filled through its base type.
    assert_eq!(
        lines.columns[2].travel,
        binary(1700, 1231, None, CopyBinary::Same)
    );
    // Compared in the index's order, whatever the declaration's.
    let RowMatch::Key(key) = &lines.row_match else {
        panic!("found by key");
    };
    let columns: Vec<_> = key.iter().map(|part| part.column).collect();
    assert_eq!(columns, [1, 0]);
}

#[tokio::test]
async fn one_value_without_an_exact_binary_form_turns_the_stream_to_text() {
    let cluster = Cluster::shared();
    let client = cluster.database().await;
    for (source, target, cast) in [
        ("int[]", "int[]", "\"pg_catalog\".\"_int4\""),
        ("public.pair", "public.pair", "\"public\".\"pair\""),
        ("int4range", "int4range", "\"pg_catalog\".\"int4range\""),
        (
            "public.citext",
            "public.citext",
            "\"public\".\"citextin\"()",
        ),
        ("public.hstore", "text", "\"pg_catalog\".\"text\""),
        ("int", "text", "\"pg_catalog\".\"text\""),
        ("real", "double precision", "\"pg_catalog\".\"float8\""),
        ("char(3)", "text", "\"pg_catalog\".\"text\""),
        ("money", "money", "\"pg_catalog\".\"money\""),
        ("xml", "xml", "\"pg_catalog\".\"xml_in\"()"),
    ] {
        let spec = sink(&[resource("t", &[any("id"), any("v")], &["id"])]);
        Cluster::reset(&client).await;
        let generation = admitted_in(
            &client,
            &format!(
                "create extension citext schema public; create extension hstore schema public;
                 create type public.pair as (a int, b text); create schema mirror;
                 create table public.t (id int primary key, v {source});
                 create table mirror.t (id int primary key, v {target});"
            ),
            &spec,
            DestinationConstraints::Deferred,
        )
        .await;
        assert_eq!(generation.format, ValueFormat::Text, "{source}");
        let columns = &generation.tables[0].columns;
        let text = |cast: &str| Travel::Text {
            cast: match cast.strip_suffix("()") {
                None => Conversion::Cast(cast.to_owned()),
                Some(function) => Conversion::Input {
                    function: function.to_owned(),
                    further: String::new(),
                },
            },
        };
        assert_eq!(columns[0].travel, text("\"pg_catalog\".\"int4\""));
        assert_eq!(columns[1].travel, text(cast), "{source} into {target}");
    }
}

#[tokio::test]
async fn only_keys_whose_equality_is_that_of_their_text_are_folded() {
    let cluster = Cluster::shared();
    let client = cluster.database().await;
    client
        .batch_execute(
            "create schema ext; create extension citext schema ext; create extension ltree schema ext;
             create type ext.mood as enum ('a'); create domain ext.code as text;
             create collation ext.ignoring
                 (provider = icu, locale = 'und-u-ks-level2', deterministic = false);",
        )
        .await
        .unwrap();
    let in_catalog = "OPERATOR(\"pg_catalog\".=)";
    for (source, target, folding, equals) in [
        ("int", "bigint", Folding::PerKey, in_catalog),
        ("boolean", "boolean", Folding::PerKey, in_catalog),
        ("uuid", "uuid", Folding::PerKey, in_catalog),
        ("varchar(9)", "varchar(20)", Folding::PerKey, in_catalog),
        ("bytea", "bytea", Folding::PerKey, in_catalog),
        ("date", "date", Folding::PerKey, in_catalog),
        ("timestamptz", "timestamptz", Folding::PerKey, in_catalog),
        ("ext.mood", "ext.mood", Folding::PerKey, in_catalog),
        ("ext.code", "ext.code", Folding::PerKey, in_catalog),
        ("numeric", "numeric", Folding::RowOrder, in_catalog),
        ("int", "numeric", Folding::RowOrder, in_catalog),
        ("real", "real", Folding::RowOrder, in_catalog),
        ("char(4)", "char(4)", Folding::RowOrder, in_catalog),
        ("interval", "interval", Folding::RowOrder, in_catalog),
        (
            "text",
            "text collate ext.ignoring",
            Folding::RowOrder,
            in_catalog,
        ),
        (
            "ext.citext",
            "ext.citext",
            Folding::RowOrder,
            "OPERATOR(\"ext\".=)",
        ),
        (
            "ext.ltree",
            "ext.ltree",
            Folding::RowOrder,
            "OPERATOR(\"ext\".=)",
        ),
        ("int[]", "int[]", Folding::RowOrder, in_catalog),
    ] {
        let spec = sink(&[resource("t", &[any("id")], &["id"])]);
        Cluster::reset(&client).await;
        let generation = admitted_in(
            &client,
            &format!(
                "create schema mirror;
                 create table public.t (id {source} primary key);
                 create table mirror.t (id {target} primary key);"
            ),
            &spec,
            DestinationConstraints::Deferred,
        )
        .await;
        let table = &generation.tables[0];
        assert_eq!(table.folding, folding, "{source} into {target}");
        assert_eq!(table.row_match.key()[0].equals, equals, "{target}");
    }
}

#[tokio::test]
async fn rows_without_a_key_are_found_by_their_image_whatever_the_types() {
    let spec = sink(&[resource(
        "t",
        &[any("a"), any("b"), any("c"), any("d"), any("e")],
        &[],
    )]);
    let generation = admitted(
        "create schema mirror; create type public.pair as (a int, b text);
         create table public.t (a varchar(5), b json, c xml, d point, e public.pair);
         alter table public.t replica identity full;
         create table mirror.t (a varchar(5), b json, c xml, d point, e public.pair);",
        &spec,
        DestinationConstraints::Deferred,
    )
    .await;
    let table = &generation.tables[0];
    assert_eq!(table.row_match, RowMatch::WholeRow);
    assert_eq!(table.folding, Folding::RowOrder);
}

#[tokio::test]
async fn odd_names_and_partitions_are_admitted() {
    let mut odd = resource("T\"q.x", &[any("Id"), any("select"), any("ünï")], &["Id"]);
    odd.target.schema = "Sch ema";
    let flat = resource("flat", &[any("id"), any("at")], &["id", "at"]);
    let generation = admitted(
        "create schema \"Sch ema\"; create schema mirror;
         create table public.\"T\"\"q.x\" (\"Id\" int primary key, \"select\" text, \"ünï\" text);
         create table \"Sch ema\".\"T\"\"q.x\" (\"Id\" int primary key, \"select\" text, \"ünï\" text);
         create table public.flat (id int, at date, primary key (id, at)) partition by range (at);
         create table mirror.flat (id int, at date, primary key (id, at)) partition by range (at);
         create table mirror.flat_1 partition of mirror.flat default;",
        &sink(&[odd, flat]),
        DestinationConstraints::Deferred,
    )
    .await;
    let table = QualifiedName::new("public", "flat").unwrap();
    assert_eq!(generation.notices, [Notice::PartitionsUnseen { table }]);
}

#[tokio::test]
async fn trust_admits_keys_between_mirrored_tables_but_remembers_that_they_act() {
    let spec = sink(&[
        resource("parents", &[any("id")], &["id"]),
        resource("children", &[any("id"), any("parent")], &["id"]),
    ]);
    let setup = "create table public.parents (id int primary key);
         create table public.children (id int primary key, parent int);
         create schema mirror;
         create table mirror.parents (id int primary key);
         create table mirror.children (id int primary key,
             parent int references mirror.parents on delete cascade);";
    let generation = admitted(setup, &spec, DestinationConstraints::Trusted).await;
    assert_eq!(generation.constraints, Constraints::Trusted);
    let [parents, children] = generation.tables.as_slice() else {
        panic!("two tables");
    };
    assert_eq!(parents.delete_and_reinsert, DeleteAndReinsert::Forbidden);
    assert_eq!(children.delete_and_reinsert, DeleteAndReinsert::Allowed);
}

#[tokio::test]
async fn an_identity_under_full_finds_rows_by_another_unique_index() {
    let spec = sink(&[found_by(
        resource("t", &[any("id"), any("email")], &["id"]),
        &["email"],
    )]);
    let generation = admitted(
        "create table public.t (id int primary key, email text not null unique);
         alter table public.t replica identity full;
         create schema mirror;
         create table mirror.t (id int primary key, email text not null unique);",
        &spec,
        DestinationConstraints::Deferred,
    )
    .await;
    let columns: Vec<_> = generation.tables[0]
        .row_match
        .key()
        .iter()
        .map(|part| part.column)
        .collect();
    assert_eq!(columns, [1]);
}
