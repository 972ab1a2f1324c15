//! Many rows per statement: inserts, updates, deletes, presence sets, sizes, names, foreign keys, truncates.

use super::super::Rung;
use super::Mirror;
use crate::fixture::{
    N, U, delete, in_binary, insert, t, truncate, update, update_full, update_key,
};
use crate::generation::Constraints;
use crate::plan::Completeness;
use replicant_transport::ident::QualifiedName;

#[tokio::test]
async fn every_fold_arrives() {
    let mut mirror = Mirror::new(
        "create schema folds; create table folds.t (id int8 primary key, v text, big text not null); \
         insert into folds.t select i, 'v', 'big' from pg_catalog.generate_series(1, 6) as i",
        &[("folds.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    let applied = mirror
        .apply(vec![
            insert(&r, &[t(10), t("a"), t("x")]),
            update(&r, &[t(10), t("b"), U]),
            insert(&r, &[t(11), t("a"), t("x")]),
            delete(&r, &[t(11), N, N]),
            delete(&r, &[t(1), N, N]),
            insert(&r, &[t(1), N, t("new")]),
            update(&r, &[t(2), t("first"), t("changed")]),
            update(&r, &[t(2), t("second"), U]),
            update(&r, &[t(3), t("gone"), U]),
            delete(&r, &[t(3), N, N]),
            update_key(&r, &[t(4), N, N], &[t(40), t("moved"), t("whole")]),
            update_key(&r, &[t(5), N, N], &[t(50), t("moved"), U]),
            update_key(&r, &[t(50), N, N], &[t(51), t("again"), U]),
            update_key(&r, &[t(6), N, N], &[t(6), t("same"), U]),
        ])
        .await;
    assert_eq!(
        mirror.rows("select * from folds.t order by 1").await,
        [
            "1|NULL|new",
            "2|second|changed",
            "6|same|big",
            "10|b|x",
            "40|moved|whole",
            "51|again|big",
        ]
    );
    assert_eq!(
        (applied.inserts, applied.updates, applied.deletes),
        (3, 8, 3)
    );
    assert_eq!(applied.absent_deletes, 1, "the row that came and went");
}

#[tokio::test]
async fn unchanged_values_come_from_the_full_old_row() {
    let mut mirror = Mirror::new(
        "create schema fulls; create table fulls.t (id int8 primary key, v text, big text); \
         insert into fulls.t values (1, 'v', 'stored')",
        &[("fulls.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![update_full(
            &r,
            &[t(1), t("v"), t("sent")],
            &[t(2), t("w"), U],
        )])
        .await;
    assert_eq!(mirror.rows("select * from fulls.t").await, ["2|w|sent"]);
}

#[tokio::test]
async fn updates_with_different_unknown_columns_are_written_apart() {
    let mut mirror = Mirror::new(
        "create schema apart; create table apart.t (id int8 primary key, a text, b text, c text); \
         insert into apart.t select i, 'a', 'b', 'c' from pg_catalog.generate_series(1, 4) as i",
        &[("apart.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            update(&r, &[t(1), t("A"), U, U]),
            update(&r, &[t(2), U, t("B"), U]),
            update(&r, &[t(3), U, U, U]),
            update(&r, &[t(4), N, t("B"), t("C")]),
        ])
        .await;
    let rows = mirror.rows("select * from apart.t order by 1").await;
    assert_eq!(rows, ["1|A|b|c", "2|a|B|c", "3|a|b|c", "4|NULL|B|C"]);
}

#[tokio::test]
async fn names_with_case_quotes_and_spaces_are_kept() {
    let mut mirror = Mirror::new(
        "create schema \"Sch ema\"; create table \"Sch ema\".\"T\"\"q\" (\"Id\" int8 primary key, \
         \"select\" text, \"ünï\" text); create table \"Sch ema\".tq (\"Id\" int8); \
         insert into \"Sch ema\".tq values (7)",
        &[("Sch ema.T\"q", &["Id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            insert(&r, &[t(1), t("it's"), t("\\.")]),
            insert(&r, &[t(2), t(""), t("\t\n")]),
        ])
        .await;
    mirror
        .apply(vec![update(&r, &[t(1), t("\"x\\"), t("é")])])
        .await;
    let query = "select *, pg_catalog.length(\"ünï\") from \"Sch ema\".\"T\"\"q\" order by 1";
    assert_eq!(mirror.rows(query).await, ["1|\"x\\|é|1", "2||\t\n|2"]);
    mirror.apply(vec![truncate(&[&r])]).await;
    assert_eq!(mirror.rows(query).await, [""; 0]);
    assert_eq!(mirror.rows("select * from \"Sch ema\".tq").await, ["7"]);
}

#[tokio::test]
async fn no_row_is_lost_at_the_edges_of_a_statement() {
    let mut mirror = Mirror::new(
        "create schema edges; create table edges.t (id int8 primary key, v text)",
        &[("edges.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    let sum = "select pg_catalog.count(*), pg_catalog.sum(id) from edges.t";
    for count in [
        1u64, 255, 256, 1023, 1024, 1025, 4096, 4097, 65535, 65536, 65537,
    ] {
        let ids = 1..=count;
        let inserts = ids.clone().map(|id| insert(&r, &[t(id), t("v")]));
        mirror.apply(inserts.collect()).await;
        assert_eq!(
            mirror.rows(sum).await,
            [format!("{count}|{}", count * (count + 1) / 2)]
        );
        let updates = ids.clone().map(|id| update(&r, &[t(id), t(id)]));
        let applied = mirror.apply(updates.collect()).await;
        assert_eq!(applied.rows_affected, count);
        let deletes = ids.map(|id| delete(&r, &[t(id), N]));
        let applied = mirror.apply(deletes.collect()).await;
        assert_eq!((applied.rows_affected, applied.absent_deletes), (count, 0));
    }
}

#[tokio::test]
async fn seventy_columns_times_a_thousand_rows() {
    let columns: String = (1..70).map(|n| format!(", c{n} text")).collect();
    let mut mirror = Mirror::new(
        &format!("create schema wide; create table wide.t (id int8 primary key{columns})"),
        &[("wide.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    let row = |id: u32, value: &str| {
        let mut row = vec![t(id)];
        row.extend((1..70).map(|n| t(format!("{value}{n}"))));
        row
    };
    mirror
        .apply((0..1000).map(|id| insert(&r, &row(id, "a"))).collect())
        .await;
    mirror
        .apply((0..1000).map(|id| update(&r, &row(id, "b"))).collect())
        .await;
    let query = "select pg_catalog.count(*) from wide.t where c1 = 'b1' and c69 = 'b69'";
    assert_eq!(mirror.rows(query).await, ["1000"]);
}

#[tokio::test]
async fn key_only_tables_take_inserts_and_leave_nothing_to_update() {
    let mut mirror = Mirror::new(
        "create schema keyonly; create table keyonly.t (a int8, b text, primary key (b, a)); \
         insert into keyonly.t values (1, 'x')",
        &[("keyonly.t", &["b", "a"])],
    )
    .await;
    let r = mirror.relation();
    let applied = mirror
        .apply(vec![
            insert(&r, &[t(1), t("x")]),
            insert(&r, &[t(1), t("y")]),
            update(&r, &[t(1), t("y")]),
            insert(&r, &[t(11), t("")]),
        ])
        .await;
    assert_eq!(applied.rung, Rung::Upserts);
    let rows = mirror.rows("select * from keyonly.t order by a, b").await;
    assert_eq!(rows, ["1|x", "1|y", "11|"]);
    mirror.apply(vec![delete(&r, &[t(1), t("x")])]).await;
    assert_eq!(
        mirror
            .rows("select a, b from keyonly.t where b = 'x'")
            .await,
        [""; 0]
    );
}

#[tokio::test]
async fn identity_columns_are_inserted_and_never_set() {
    let mut mirror = Mirror::new(
        "create schema idents; create table idents.t (id int8 generated always as identity primary key, \
         n int8 generated always as identity, v text)",
        &[("idents.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            insert(&r, &[t(5), t(6), t("a")]),
            insert(&r, &[t(7), t(8), t("a")]),
        ])
        .await;
    mirror
        .apply(vec![
            update(&r, &[t(5), t(6), t("b")]),
            update_key(&r, &[t(7), N, N], &[t(9), t(8), t("c")]),
        ])
        .await;
    let rows = mirror.rows("select * from idents.t order by 1").await;
    assert_eq!(rows, ["5|6|b", "9|8|c"]);
    let other = update(&r, &[t(5), t(99), t("b")]);
    assert_eq!(mirror.stop(vec![other]).await, "destination_diverged");
}

#[tokio::test]
async fn many_identity_rows_are_copied() {
    let mut mirror = Mirror::new(
        "create schema identcopy; create table identcopy.t (id int8 generated always as identity primary key, v text)",
        &[("identcopy.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply((1..=2000).map(|id| insert(&r, &[t(id), t("v")])).collect())
        .await;
    let rows = mirror
        .rows("select pg_catalog.count(*), pg_catalog.max(id) from identcopy.t")
        .await;
    assert_eq!(rows, ["2000|2000"]);
}

#[tokio::test]
async fn deferred_foreign_keys_see_only_the_end_of_the_transaction() {
    let constraints = Constraints::Deferred {
        foreign_keys: vec![QualifiedName::new("family", "of_parent").unwrap()],
        unique: Vec::new(),
    };
    let mut mirror = Mirror::under(
        "create schema family; create table family.parent (id int8 primary key); \
         create table family.child (id int8 primary key, parent int8, \
           constraint of_parent foreign key (parent) references family.parent deferrable); \
         insert into family.parent values (1); insert into family.child values (10, 1)",
        &[("family.parent", &["id"]), ("family.child", &["id"])],
        Completeness::Complete,
        constraints,
        |_| {},
    )
    .await;
    let (parent, child) = (mirror.relations[0].clone(), mirror.relations[1].clone());
    // As ON DELETE CASCADE writes it: the parent first. And a child before its parent.
    mirror
        .apply(vec![
            delete(&parent, &[t(1)]),
            delete(&child, &[t(10), N]),
            insert(&child, &[t(20), t(2)]),
            insert(&parent, &[t(2)]),
        ])
        .await;
    assert_eq!(mirror.rows("select * from family.child").await, ["20|2"]);
    let applied = mirror.apply(vec![truncate(&[&parent, &child])]).await;
    assert_eq!((applied.truncates, applied.rows_affected), (2, 2));
    assert_eq!(mirror.rows("select * from family.parent").await, [""; 0]);
}

#[tokio::test]
async fn the_replica_role_ends_with_the_transaction() {
    let mut mirror = Mirror::under(
        "create schema trusted; create table trusted.p (id int8 primary key); \
         create table trusted.c (id int8 primary key references trusted.p)",
        &[("trusted.c", &["id"])],
        Completeness::Complete,
        Constraints::Trusted,
        |_| {},
    )
    .await;
    let r = mirror.relation();
    mirror.apply(vec![insert(&r, &[t(1)])]).await;
    assert_eq!(mirror.rows("select * from trusted.c").await, ["1"]);
    let role = mirror.rows("show session_replication_role").await;
    assert_eq!(role, ["origin"]);
}

#[tokio::test]
async fn a_partitioned_mirror_is_written_and_emptied_as_one_table() {
    let mut mirror = Mirror::new(
        "create schema parts; create table parts.t (id int8 primary key, v text) partition by range (id); \
         create table parts.low partition of parts.t for values from (0) to (100); \
         create table parts.high partition of parts.t for values from (100) to (200)",
        &[("parts.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            insert(&r, &[t(1), t("a")]),
            insert(&r, &[t(150), t("b")]),
        ])
        .await;
    mirror
        .apply(vec![
            update_key(&r, &[t(1), N], &[t(199), U]),
            update(&r, &[t(150), t("B")]),
        ])
        .await;
    let query = "select id, v from parts.t order by 1";
    assert_eq!(mirror.rows(query).await, ["150|B", "199|a"]);
    mirror.apply(vec![truncate(&[&r])]).await;
    assert_eq!(mirror.rows(query).await, [""; 0]);
}

#[tokio::test]
async fn a_truncate_is_a_barrier() {
    let mut mirror = Mirror::new(
        "create schema barrier; create table barrier.t (id int8 primary key, v text); \
         insert into barrier.t values (1, 'old')",
        &[("barrier.t", &["id"])],
    )
    .await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            update(&r, &[t(1), t("x")]),
            insert(&r, &[t(2), t("before")]),
            truncate(&[&r]),
            insert(&r, &[t(1), t("after")]),
        ])
        .await;
    assert_eq!(mirror.rows("select * from barrier.t").await, ["1|after"]);
}

#[tokio::test]
async fn binary_values_pass_through_by_copy_and_by_statement() {
    for (schema, rows) in [("binsmall", 3i64), ("binlarge", 3000)] {
        let ddl = format!(
            "create schema {schema}; create table {schema}.t (id int8 primary key, v int4, s text)"
        );
        let name = format!("{schema}.t");
        let names: [(&str, &[&str]); 1] = [(&name, &["id"])];
        let mut mirror = Mirror::with(&ddl, &names, Completeness::Complete, |tables| {
            let table = tables.pop().unwrap();
            tables.push(in_binary(table));
        })
        .await;
        let r = mirror.relation();
        let b = |bytes: &[u8]| crate::fixture::V::Binary(bytes.to_vec());
        let row = |id: i64, v: i32| {
            [
                b(&id.to_be_bytes()),
                b(&v.to_be_bytes()),
                b(b"s\0"[..1].as_ref()),
            ]
        };
        mirror
            .apply((-1..rows - 1).map(|id| insert(&r, &row(id, 1))).collect())
            .await;
        mirror
            .apply((-1..rows - 1).map(|id| update(&r, &row(id, 2))).collect())
            .await;
        mirror
            .apply(vec![delete(&r, &[b(&(-1i64).to_be_bytes()), N, N])])
            .await;
        let query = format!(
            "select pg_catalog.count(*), pg_catalog.min(id), pg_catalog.sum(v), pg_catalog.min(s) from {name}"
        );
        let expected = format!("{}|0|{}|s", rows - 1, (rows - 1) * 2);
        assert_eq!(mirror.rows(&query).await, [expected]);
    }
}
