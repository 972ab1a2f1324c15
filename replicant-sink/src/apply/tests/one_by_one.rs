//! Tables written change by change: without a key, or with a key whose equality is coarser than its text.

use super::Mirror;
use crate::fixture::{
    N, U, delete, delete_full, insert, keyless, t, update, update_full, update_key,
};
use crate::generation::Folding;
use crate::plan::Completeness;

async fn without_key(ddl: &str, name: &str, completeness: Completeness) -> Mirror {
    Mirror::with(ddl, &[(name, &[])], completeness, |tables| {
        let table = tables.pop().unwrap();
        tables.push(keyless(table));
    })
    .await
}

#[tokio::test]
async fn exactly_one_of_several_equal_rows_is_touched() {
    let mut mirror = without_key(
        "create schema dup; create table dup.t (a int4, b text, p point); \
         insert into dup.t select 1, null, '(1,2)' from pg_catalog.generate_series(1, 3)",
        "dup.t",
        Completeness::Complete,
    )
    .await;
    let r = mirror.relation();
    let row = [t(1), N, t("(1,2)")];
    mirror
        .apply(vec![
            delete_full(&r, &row),
            update_full(&r, &row, &[t(2), t("x"), U]),
            insert(&r, &[t(3), N, N]),
            insert(&r, &[t(3), N, N]),
        ])
        .await;
    let rows = mirror.rows("select * from dup.t order by a").await;
    assert_eq!(
        rows,
        ["1|NULL|(1,2)", "2|x|(1,2)", "3|NULL|NULL", "3|NULL|NULL"]
    );
    let absent = delete_full(&r, &[t(9), N, N]);
    assert_eq!(mirror.stop(vec![absent]).await, "destination_diverged");
    let absent = update_full(&r, &[t(9), N, N], &[t(9), t("y"), N]);
    assert_eq!(mirror.stop(vec![absent]).await, "destination_diverged");
}

#[tokio::test]
async fn a_row_is_found_by_the_image_that_storing_its_values_makes() {
    let mut mirror = without_key(
        "create schema rescaled; create domain rescaled.amount as numeric(12,4); \
         create table rescaled.t (n numeric(12,4), i numeric(19,2), d rescaled.amount, a numeric(12,4)[], \
           s timestamp(6), v varchar(9))",
        "rescaled.t",
        Completeness::Complete,
    )
    .await;
    let r = mirror.relation();
    let row = |n: &str| {
        [
            t(n),
            t(7),
            t("-2.5"),
            t("{1.5,NULL}"),
            t("2024-01-01 00:00:00.5"),
            t("x"),
        ]
    };
    mirror
        .apply(vec![
            insert(&r, &row("1.50")),
            insert(&r, &row("1.51")),
            update_full(&r, &row("1.50"), &row("8.00")),
            delete_full(&r, &row("1.51")),
        ])
        .await;
    assert_eq!(
        mirror.rows("select n, i, d, a from rescaled.t").await,
        ["8.0000|7.00|-2.5000|{1.5000,NULL}"]
    );
    mirror.apply(vec![delete_full(&r, &row("8.00"))]).await;
    assert_eq!(mirror.rows("select * from rescaled.t").await, [""; 0]);
}

#[tokio::test]
async fn an_absent_row_without_a_key_is_nothing_to_delete_in_an_open_table() {
    let mut mirror = without_key(
        "create schema gone; create table gone.t (a int4); insert into gone.t values (1)",
        "gone.t",
        Completeness::Open,
    )
    .await;
    let r = mirror.relation();
    let applied = mirror.apply(vec![delete_full(&r, &[t(9)])]).await;
    assert_eq!(applied.absent_deletes, 1);
    assert_eq!(mirror.rows("select * from gone.t").await, ["1"]);
}

#[tokio::test]
async fn types_without_an_equality_are_found_by_their_image() {
    let mut mirror = without_key(
        "create schema noeq; create table noeq.t (a json, b xml, c point); \
         insert into noeq.t values ('{\"a\": 1}', '<a/>', '(1,2)'), ('{\"a\":1}', '<a/>', '(1,2)')",
        "noeq.t",
        Completeness::Complete,
    )
    .await;
    let r = mirror.relation();
    let spaced = [t("{\"a\": 1}"), t("<a/>"), t("(1,2)")];
    mirror
        .apply(vec![
            update_full(&r, &spaced, &[t("[]"), t("<b/>"), N]),
            delete_full(&r, &[t("{\"a\":1}"), t("<a/>"), t("(1,2)")]),
        ])
        .await;
    assert_eq!(mirror.rows("select * from noeq.t").await, ["[]|<b/>|NULL"]);
}

#[tokio::test]
async fn equal_but_different_values_are_told_apart() {
    let mut mirror = without_key(
        "create schema scale; create domain scale.money as numeric; \
         create table scale.t (n numeric, d scale.money, c char(4), v varchar(9), j json); \
         insert into scale.t values ('1.0', '1.0', 'a', 'x', '{\"a\": 1}'), ('1.00', '1.0', 'a', 'x', '{\"a\": 1}')",
        "scale.t",
        Completeness::Complete,
    )
    .await;
    let r = mirror.relation();
    let gone = [t("1.00"), t("1.0"), t("a   "), t("x"), t("{\"a\": 1}")];
    mirror.apply(vec![delete_full(&r, &gone)]).await;
    assert_eq!(mirror.rows("select n from scale.t").await, ["1.0"]);
}

#[tokio::test]
async fn rows_of_partitions_at_one_address_are_told_apart() {
    let mut mirror = without_key(
        "create schema parts2; create table parts2.t (a int4, b text) partition by list (a); \
         create table parts2.one partition of parts2.t for values in (1); \
         create table parts2.two partition of parts2.t for values in (2); \
         insert into parts2.t values (1, 'x'), (2, 'x')",
        "parts2.t",
        Completeness::Complete,
    )
    .await;
    let r = mirror.relation();
    mirror.apply(vec![delete_full(&r, &[t(2), t("x")])]).await;
    assert_eq!(mirror.rows("select * from parts2.t").await, ["1|x"]);
}

#[tokio::test]
async fn a_numeric_key_written_anew_is_one_row() {
    let mut mirror = Mirror::with(
        "create schema numkey; create table numkey.t (id numeric primary key, v text); \
         insert into numkey.t values ('1.0', 'old')",
        &[("numkey.t", &["id"])],
        Completeness::Complete,
        |tables| tables[0].folding = Folding::RowOrder,
    )
    .await;
    let r = mirror.relation();
    let query = "select * from numkey.t";
    mirror
        .apply(vec![
            delete(&r, &[t("1.0"), N]),
            insert(&r, &[t("1.00"), t("new")]),
        ])
        .await;
    assert_eq!(mirror.rows(query).await, ["1.00|new"]);
    mirror
        .apply(vec![update_key(&r, &[t("1.00"), N], &[t("1.000"), U])])
        .await;
    assert_eq!(mirror.rows(query).await, ["1.000|new"]);
}

#[tokio::test]
async fn a_citext_key_compares_with_its_own_operator() {
    let mut mirror = Mirror::with(
        "create schema ci; create extension citext schema ci; \
         create table ci.t (id ci.citext primary key, v text); insert into ci.t values ('Ann', 'old')",
        &[("ci.t", &["id"])],
        Completeness::Complete,
        |tables| {
            tables[0].folding = Folding::RowOrder;
            let crate::generation::RowMatch::Key(keys) = &mut tables[0].row_match else {
                panic!("keyed");
            };
            keys[0].equals = "OPERATOR(ci.=)".to_owned();
        },
    )
    .await;
    let r = mirror.relation();
    let query = "select * from ci.t";
    mirror
        .apply(vec![update(&r, &[t("ANN"), t("found")])])
        .await;
    assert_eq!(mirror.rows(query).await, ["Ann|found"]);
    mirror
        .apply(vec![update_key(&r, &[t("Ann"), N], &[t("aNN"), U])])
        .await;
    assert_eq!(mirror.rows(query).await, ["aNN|found"]);
    mirror
        .apply(vec![insert(&r, &[t("ann"), t("again")])])
        .await;
    assert_eq!(mirror.rows(query).await, ["ann|again"]);
    mirror.apply(vec![delete(&r, &[t("ANN"), N])]).await;
    assert_eq!(mirror.rows(query).await, [""; 0]);
}

#[tokio::test]
async fn an_absent_row_in_an_open_table_is_inserted_in_its_place() {
    let mut mirror = Mirror::with(
        "create schema order1; create table order1.t (id numeric primary key, v text)",
        &[("order1.t", &["id"])],
        Completeness::Open,
        |tables| tables[0].folding = Folding::RowOrder,
    )
    .await;
    let r = mirror.relation();
    // The second change must see what the first one inserted late.
    let applied = mirror
        .apply(vec![
            update(&r, &[t("1.0"), t("a")]),
            delete(&r, &[t("1"), N]),
            update(&r, &[t("2.0"), t("b")]),
            update_key(&r, &[t("2.0"), N], &[t("3"), U]),
        ])
        .await;
    assert_eq!((applied.absent_updates, applied.absent_deletes), (2, 0));
    assert_eq!(mirror.rows("select * from order1.t").await, ["3|b"]);
    let mut rows = without_key(
        "create schema order2; create table order2.t (a int4, b text)",
        "order2.t",
        Completeness::Open,
    )
    .await;
    let r = rows.relation();
    rows.apply(vec![update_full(&r, &[t(1), N], &[t(1), t("b")])])
        .await;
    assert_eq!(rows.rows("select * from order2.t").await, ["1|b"]);
}

#[tokio::test]
async fn many_changes_of_a_table_in_row_order_all_arrive() {
    let mut mirror = Mirror::with(
        "create schema order3; create table order3.t (id numeric primary key, v text)",
        &[("order3.t", &["id"])],
        Completeness::Complete,
        |tables| tables[0].folding = Folding::RowOrder,
    )
    .await;
    let r = mirror.relation();
    let mut changes = Vec::new();
    for id in 0..1025 {
        changes.push(insert(&r, &[t(id), t("a")]));
        changes.push(update(&r, &[t(id), t(id)]));
    }
    let applied = mirror.apply(changes).await;
    assert_eq!(applied.rows_affected, 2050);
    let query = "select pg_catalog.count(*) from order3.t where v = id::text";
    assert_eq!(mirror.rows(query).await, ["1025"]);
}
