//! What is not applied: absent rows by completeness, unknown values, missing keys, policies.

use replicant_checkpoint::contract::resource::{OnSchemaChange, OnTruncate, ResourceSpec};
use replicant_transport::relation::{KeyPart, Relation};
use std::sync::Arc;

use super::super::Failure;
use super::Mirror;
use crate::fixture::{
    INT8, N, TEXT, U, delete, insert, message, plain_table, relation, t, truncate, update,
    update_key,
};
use crate::generation::Folding;
use crate::plan::Completeness;

const KEY: &[&str] = &["id"];

async fn mirror(schema: &str, completeness: Completeness) -> Mirror {
    let ddl = format!(
        "create schema {schema}; create table {schema}.t (id int8 primary key, v text, big text); \
         insert into {schema}.t values (1, 'v', 'big')"
    );
    let name = format!("{schema}.t");
    Mirror::with(&ddl, &[(&name, KEY)], completeness, |_| {}).await
}

#[tokio::test]
async fn an_absent_row_in_a_complete_table_is_divergence() {
    let mut mirror = mirror("absent1", Completeness::Complete).await;
    let r = mirror.relation();
    let absent = update(&r, &[t(2), t("w"), t("big")]);
    assert_eq!(mirror.stop(vec![absent]).await, "destination_diverged");
    let departs = update_key(&r, &[t(2), N, N], &[t(3), t("w"), t("big")]);
    assert_eq!(mirror.stop(vec![departs]).await, "destination_diverged");
    let incomplete = update_key(&r, &[t(2), N, N], &[t(3), t("w"), U]);
    assert_eq!(mirror.stop(vec![incomplete]).await, "destination_diverged");
    let applied = mirror.apply(vec![delete(&r, &[t(2), N, N])]).await;
    assert_eq!((applied.absent_deletes, applied.rows_affected), (1, 0));
    assert_eq!(mirror.rows("select * from absent1.t").await, ["1|v|big"]);
}

#[tokio::test]
async fn a_row_that_is_still_there_after_its_delete_is_divergence() {
    for (schema, completeness, folding) in [
        ("veto1", Completeness::Complete, Folding::PerKey),
        ("veto2", Completeness::Open, Folding::PerKey),
        ("veto3", Completeness::Complete, Folding::RowOrder),
        ("veto4", Completeness::Open, Folding::RowOrder),
    ] {
        let ddl = format!(
            "create schema {schema}; create table {schema}.t (id int8 primary key, v text); \
             insert into {schema}.t values (1, 'kept'), (2, 'not'); \
             create function {schema}.f() returns trigger language plpgsql as \
             'begin if old.v = ''kept'' then return null; end if; return old; end'; \
             create trigger veto before delete on {schema}.t for each row execute function {schema}.f()"
        );
        let name = format!("{schema}.t");
        let mut mirror = Mirror::with(&ddl, &[(&name, KEY)], completeness, |tables| {
            tables[0].folding = folding;
        })
        .await;
        let r = mirror.relation();
        let both = vec![delete(&r, &[t(1), N]), delete(&r, &[t(2), N])];
        assert_eq!(mirror.stop(both).await, "destination_diverged", "{schema}");
        let absent = vec![delete(&r, &[t(2), N]), delete(&r, &[t(9), N])];
        assert_eq!(mirror.apply(absent).await.absent_deletes, 1, "{schema}");
        // The row that came and went was never there; the one that came again is no leftover.
        let again = vec![
            delete(&r, &[t(3), N]),
            insert(&r, &[t(3), t("new")]),
            insert(&r, &[t(4), t("new")]),
            delete(&r, &[t(4), N]),
        ];
        mirror.apply(again).await;
        let rows = mirror
            .rows(&format!("select * from {schema}.t order by id"))
            .await;
        assert_eq!(rows, ["1|kept", "3|new"], "{schema}");
    }
}

#[tokio::test]
async fn an_absent_row_in_an_open_table_is_inserted_when_it_is_whole() {
    for (schema, completeness) in [
        ("absent2", Completeness::Open),
        ("absent3", Completeness::Filling),
    ] {
        let mut mirror = mirror(schema, completeness).await;
        let r = mirror.relation();
        let applied = mirror
            .apply(vec![
                update(&r, &[t(2), t("w"), t("whole")]),
                update(&r, &[t(1), t("w"), t("whole")]),
                update(&r, &[t(3), N, t("whole")]),
                update_key(&r, &[t(7), N, N], &[t(8), t("w"), t("moved")]),
            ])
            .await;
        assert_eq!(applied.absent_updates, 2);
        let query = format!("select * from {schema}.t order by 1");
        assert_eq!(
            mirror.rows(&query).await,
            ["1|w|whole", "2|w|whole", "3|NULL|whole", "8|w|moved"]
        );
        let partial = update(&r, &[t(4), t("w"), U]);
        assert_eq!(mirror.stop(vec![partial]).await, "row_incomplete");
        let partial = update_key(&r, &[t(4), N, N], &[t(5), t("w"), U]);
        assert_eq!(mirror.stop(vec![partial]).await, "row_incomplete");
    }
}

#[tokio::test]
async fn an_insert_with_an_unknown_value_is_incomplete() {
    let mut mirror = mirror("incomplete", Completeness::Complete).await;
    let r = mirror.relation();
    let partial = insert(&r, &[t(2), t("w"), U]);
    assert_eq!(mirror.stop(vec![partial]).await, "row_incomplete");
}

#[tokio::test]
async fn a_row_without_its_key_is_not_looked_for() {
    let mut mirror = mirror("nokey", Completeness::Complete).await;
    let r = mirror.relation();
    for change in [
        delete(&r, &[N, N, N]),
        update(&r, &[U, t("w"), U]),
        insert(&r, &[N, t("w"), N]),
    ] {
        assert_eq!(mirror.stop(vec![change]).await, "row_key_missing");
    }
    // The key's old value stands in for one that did not change.
    mirror
        .apply(vec![update_key(&r, &[t(1), N, N], &[U, t("w"), U])])
        .await;
    assert_eq!(mirror.rows("select * from nokey.t").await, ["1|w|big"]);
    // A replica identity that does not cover the key tells nothing about it.
    let mut other = Relation::clone(&r);
    other.columns[0].key = KeyPart::NotKey;
    let other = Arc::new(other);
    for change in [
        delete(&other, &[t(1), N, N]),
        update(&other, &[t(1), t("w"), U]),
    ] {
        assert_eq!(mirror.stop(vec![change]).await, "row_key_missing");
    }
}

#[tokio::test]
async fn policies_stop_by_name() {
    let mut mirror = Mirror::with(
        "create schema policies; create table policies.t (id int8 primary key, v text)",
        &[("policies.t", KEY)],
        Completeness::Complete,
        |tables| {
            let spec = ResourceSpec {
                on_truncate: OnTruncate::Halt,
                ..*tables[0].spec
            };
            tables[0].spec = Box::leak(Box::new(spec));
        },
    )
    .await;
    let r = mirror.relation();
    let first = insert(&r, &[t(1), t("v")]);
    let changes = vec![first, truncate(&[&r])];
    assert_eq!(mirror.stop(changes).await, "truncate_halt");
    assert_eq!(mirror.rows("select * from policies.t").await, [""; 0]);
    assert_eq!(mirror.stop(vec![message()]).await, "change_unsupported");
    let columns = [("id", "int8", INT8), ("v", "text", TEXT)];
    let unmapped = relation(&plain_table("public.unmapped", &columns, &[0]));
    let change = insert(&unmapped, &[t(1), t("v")]);
    assert_eq!(mirror.stop(vec![change]).await, "source_table_unmapped");
    let ignored = relation(&plain_table("public.ignored", &columns, &[0]));
    let applied = mirror
        .apply(vec![
            insert(&ignored, &[t(1), t("v")]),
            truncate(&[&ignored]),
        ])
        .await;
    assert_eq!(applied.ignored, 2);
}

#[tokio::test]
async fn columns_that_came_or_went_stop_unless_declared() {
    let mut mirror = mirror("columns", Completeness::Complete).await;
    let r = mirror.relation();
    let mut wider = Relation::clone(&r);
    let mut added = wider.columns[1].clone();
    added.name = replicant_transport::ident::Ident::new("added").unwrap();
    wider.columns.push(added);
    let change = insert(&Arc::new(wider), &[t(2), t("v"), t("b"), t("x")]);
    assert_eq!(mirror.stop(vec![change]).await, "source_column_unmapped");
    let mut narrower = Relation::clone(&r);
    narrower.columns.truncate(2);
    let narrower = Arc::new(narrower);
    let change = insert(&narrower, &[t(2), t("v")]);
    assert_eq!(mirror.stop(vec![change]).await, "schema_change_destructive");
    let mut lenient = Mirror::with(
        "create schema columns2; create table columns2.t (id int8 primary key, v text, big text); \
         insert into columns2.t values (1, 'v', 'big')",
        &[("columns2.t", KEY)],
        Completeness::Complete,
        |tables| {
            let spec = ResourceSpec {
                on_schema_change: OnSchemaChange::Ignore,
                ..*tables[0].spec
            };
            tables[0].spec = Box::leak(Box::new(spec));
        },
    )
    .await;
    let full = lenient.relation();
    let mut narrower = Relation::clone(&full);
    narrower.columns.truncate(2);
    let narrower = Arc::new(narrower);
    lenient
        .apply(vec![
            insert(&full, &[t(3), t("v"), t("b")]),
            insert(&narrower, &[t(2), t("v")]),
            update(&narrower, &[t(1), t("w")]),
        ])
        .await;
    let rows = lenient.rows("select * from columns2.t order by 1").await;
    assert_eq!(rows, ["1|w|big", "2|v|NULL", "3|v|b"]);
}

#[tokio::test]
async fn a_refused_value_is_told_by_code_and_table_only() {
    let mut mirror = Mirror::new(
        "create schema refused; create table refused.t (id int8 primary key, v varchar(3))",
        &[("refused.t", KEY)],
    )
    .await;
    let r = mirror.relation();
    for rows in [1i64, 1000] {
        let changes = (0..rows).map(|id| insert(&r, &[t(id), t("canary")]));
        let failure = mirror.try_apply(changes.collect()).await.unwrap_err();
        let Failure::Database { fault, site } = &failure else {
            panic!("a fault");
        };
        assert_eq!(fault.sqlstate().unwrap().as_str(), "22001");
        assert_eq!(site.table.as_ref().unwrap().to_string(), "refused.t");
        assert!(!format!("{failure:?}").contains("canary"));
    }
}

#[tokio::test]
async fn a_row_that_the_destination_swallows_is_divergence() {
    let mut mirror = Mirror::new(
        "create schema swallow; create table swallow.t (id int8 primary key, v text); \
         create function swallow.no() returns trigger language plpgsql as 'begin return null; end'; \
         create trigger no before insert on swallow.t for each row execute function swallow.no()",
        &[("swallow.t", KEY)],
    )
    .await;
    let r = mirror.relation();
    for rows in [1i64, 1000] {
        let changes = (0..rows).map(|id| insert(&r, &[t(id), t("v")]));
        assert_eq!(mirror.stop(changes.collect()).await, "destination_diverged");
    }
}
