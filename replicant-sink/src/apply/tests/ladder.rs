//! Unique values that move: every rung is climbed, and the last one stops.

use std::sync::Arc;

use replicant_checkpoint::contract::resource::{OnSchemaChange, ResourceSpec};
use replicant_transport::relation::Relation;

use super::super::memory::UPSERTS_AFTER_CONFLICT;
use super::super::{Failure, Rung};
use super::Mirror;
use crate::fixture::{N, U, delete, insert, piece, t, update, update_key};
use crate::generation::{Constraints, DeleteAndReinsert};
use crate::plan::Completeness;
use replicant_transport::ident::QualifiedName;

const KEY: &[&str] = &["id"];

fn ddl(schema: &str) -> String {
    format!(
        "create schema {schema}; \
         create table {schema}.t (id int8 primary key, u text unique, big text not null default 'big'); \
         insert into {schema}.t (id, u) values (1, 'a'), (2, 'b'), (3, 'c')"
    )
}

#[tokio::test]
async fn an_insert_over_an_existing_row_replaces_it() {
    let mut mirror = Mirror::new(&ddl("rung2"), &[("rung2.t", KEY)]).await;
    let r = mirror.relation();
    let applied = mirror
        .apply(vec![insert(&r, &[t(1), t("z"), t("new")])])
        .await;
    assert_eq!(applied.rung, Rung::Upserts);
    let rows = mirror.rows("select * from rung2.t where id = 1").await;
    assert_eq!(rows, ["1|z|new"]);
    // The same over COPY.
    let many = (1..=1000).map(|id| insert(&r, &[t(id), t(format!("u{id}")), t("many")]));
    mirror.apply(many.collect()).await;
    let query = "select pg_catalog.count(*) from rung2.t where big = 'many'";
    assert_eq!(mirror.rows(query).await, ["1000"]);
}

#[tokio::test]
async fn plain_inserts_are_tried_again_some_time_after_a_conflict() {
    let mut mirror = Mirror::new(&ddl("decay"), &[("decay.t", KEY)]).await;
    let r = mirror.relation();
    let taken = insert(&r, &[t(1), t("z"), t("new")]);
    assert_eq!(mirror.apply(vec![taken.clone()]).await.rung, Rung::Upserts);
    for id in 0..i64::from(UPSERTS_AFTER_CONFLICT) {
        let fresh = insert(&r, &[t(100 + id), N, t("new")]);
        assert_eq!(mirror.apply(vec![fresh]).await.rung, Rung::Upserts, "{id}");
    }
    let fresh = insert(&r, &[t(99), N, t("new")]);
    assert_eq!(mirror.apply(vec![fresh]).await.rung, Rung::Sets);
    assert_eq!(mirror.apply(vec![taken]).await.rung, Rung::Upserts);
}

#[tokio::test]
async fn a_value_freed_by_a_delete_or_a_move_is_taken_at_once() {
    let mut mirror = Mirror::new(&ddl("rung1"), &[("rung1.t", KEY)]).await;
    let r = mirror.relation();
    let applied = mirror
        .apply(vec![
            delete(&r, &[t(1), N, N]),
            insert(&r, &[t(10), t("a"), t("x")]),
            update(&r, &[t(2), t("free"), U]),
            insert(&r, &[t(11), t("b"), t("x")]),
        ])
        .await;
    assert_eq!(applied.rung, Rung::Sets);
    let rows = mirror.rows("select id, u from rung1.t order by 1").await;
    assert_eq!(rows, ["2|free", "3|c", "10|a", "11|b"]);
}

#[tokio::test]
async fn a_chain_of_unique_values_needs_the_source_order() {
    let mut mirror = Mirror::new(&ddl("rung3"), &[("rung3.t", KEY)]).await;
    let r = mirror.relation();
    // 3 leaves 'c', 2 takes it, 1 takes what 2 left; and a swap through a temporary value that folding removes.
    let applied = mirror
        .apply(vec![
            update(&r, &[t(3), t("d"), U]),
            update(&r, &[t(2), t("c"), U]),
            update(&r, &[t(1), t("b"), U]),
            update(&r, &[t(1), t("tmp"), U]),
            update(&r, &[t(2), t("b"), U]),
            update(&r, &[t(1), t("c"), U]),
        ])
        .await;
    assert_eq!(applied.rung, Rung::Rows);
    let rows = mirror.rows("select * from rung3.t order by 1").await;
    assert_eq!(rows, ["1|c|big", "2|b|big", "3|d|big"]);
}

#[tokio::test]
async fn a_swap_that_no_order_resolves_is_reinserted_with_its_stored_values() {
    let mut mirror = Mirror::new(&ddl("rung4"), &[("rung4.t", KEY)]).await;
    let r = mirror.relation();
    let applied = mirror
        .apply(vec![
            update(&r, &[t(1), t("b"), U]),
            update(&r, &[t(2), t("a"), U]),
            update(&r, &[t(3), t("c"), t("known")]),
        ])
        .await;
    assert_eq!(applied.rung, Rung::Reinsert);
    let rows = mirror.rows("select * from rung4.t order by 1").await;
    assert_eq!(rows, ["1|b|big", "2|a|big", "3|c|known"]);
}

#[tokio::test]
async fn stored_values_of_every_kind_survive_being_reinserted() {
    let mut mirror = Mirror::new(
        "create schema rung4v; create type rung4v.pair as (a int4, b text); \
         create domain rung4v.posint as int4 check (value > 0); \
         create table rung4v.t (id int8 primary key, u int4 unique, n numeric, a text[], p rung4v.pair, \
           d rung4v.posint, c char(5), b bit(3), e text, j jsonb, nul text); \
         insert into rung4v.t select i, i, '1.500', array['x,\"y', null], row(null, null)::rung4v.pair, \
           7, 'ab', '101', '', '{\"k\": null}', null from pg_catalog.generate_series(1, 2) as i",
        &[("rung4v.t", KEY)],
    )
    .await;
    let query = "select n, a, p, d, pg_catalog.format('%s', c), b, e, j, nul, p is null from rung4v.t order by id";
    let before = mirror.rows(query).await;
    let r = mirror.relation();
    let swap = |id, u| update(&r, &[t(id), t(u), U, U, U, U, U, U, U, U, U]);
    let applied = mirror.apply(vec![swap(1, 2), swap(2, 1)]).await;
    assert_eq!(applied.rung, Rung::Reinsert);
    assert_eq!(mirror.rows(query).await, before);
    assert_eq!(
        mirror.rows("select id, u from rung4v.t order by 1").await,
        ["1|2", "2|1"]
    );
}

#[tokio::test]
async fn a_swap_among_more_stored_values_than_can_be_held_stops() {
    let mut mirror = Mirror::new(&ddl("rung4b"), &[("rung4b.t", KEY)]).await;
    mirror
        .client
        .batch_execute(
            "insert into rung4b.t select i, 'u' || i, pg_catalog.repeat('x', 1048576) \
             from pg_catalog.generate_series(4, 70) as i",
        )
        .await
        .unwrap();
    let r = mirror.relation();
    let mut changes = vec![
        update(&r, &[t(1), t("b"), U]),
        update(&r, &[t(2), t("a"), U]),
    ];
    changes.extend((4..=70).map(|id| update(&r, &[t(id), t(format!("v{id}")), U])));
    let Err(Failure::Stop(error)) = mirror.try_apply(changes.clone()).await else {
        panic!("a stop");
    };
    assert_eq!(error.code(), "destination_unique_conflict");
    assert!(error.site().fact.unwrap().contains("too large"));
    changes.truncate(12);
    let applied = mirror.apply(changes).await;
    assert_eq!(applied.rung, Rung::Reinsert);
}

#[tokio::test]
async fn a_swap_stops_where_reinserting_would_be_observed() {
    let mut mirror = Mirror::with(
        &ddl("rung5"),
        &[("rung5.t", KEY)],
        Completeness::Complete,
        |tables| tables[0].delete_and_reinsert = DeleteAndReinsert::Forbidden,
    )
    .await;
    let r = mirror.relation();
    let swap = vec![
        update(&r, &[t(1), t("b"), U]),
        update(&r, &[t(2), t("a"), U]),
    ];
    assert_eq!(mirror.stop(swap).await, "destination_unique_conflict");
    let rows = mirror.rows("select id, u from rung5.t order by 1").await;
    assert_eq!(rows, ["1|a", "2|b", "3|c"]);
}

#[tokio::test]
async fn a_value_that_belongs_to_a_row_outside_the_mirror_stops() {
    let mut mirror = Mirror::new(&ddl("rung6"), &[("rung6.t", KEY)]).await;
    let r = mirror.relation();
    let taken = insert(&r, &[t(9), t("a"), t("x")]);
    assert_eq!(
        mirror.stop(vec![taken]).await,
        "destination_unique_conflict"
    );
}

async fn deferrable(schema: &str) -> Mirror {
    let constraints = Constraints::Deferred {
        foreign_keys: Vec::new(),
        unique: vec![QualifiedName::new(schema, "u_once").unwrap()],
    };
    let ddl = format!(
        "create schema {schema}; create table {schema}.t (id int8 primary key, u text, \
           constraint u_once unique (u) deferrable); \
         insert into {schema}.t values (1, 'a'), (2, 'b')"
    );
    let name = format!("{schema}.t");
    let tables: &[(&str, &[&str])] = &[(&name, KEY)];
    Mirror::under(&ddl, tables, Completeness::Complete, constraints, |_| {}).await
}

#[tokio::test]
async fn deferred_unique_values_may_pass_through_two_rows_between_parts_and_batches() {
    let mut mirror = deferrable("deferu").await;
    let r = mirror.relation();
    let swap =
        |left: &str, right: &str| [update(&r, &[t(1), t(left)]), update(&r, &[t(2), t(right)])];
    let applied = mirror.apply(swap("b", "a").to_vec()).await;
    assert_eq!(applied.rung, Rung::Sets, "deferred, a swap needs no ladder");
    // In two parts of one source transaction.
    mirror.client.batch_execute("begin").await.unwrap();
    mirror.applier.open(&mirror.client).await.unwrap();
    for part in swap("a", "b") {
        let part = piece(vec![part]);
        let applied = mirror.applier.apply(&mirror.client, &part).await.unwrap();
        assert_eq!(applied.rung, Rung::Sets);
    }
    mirror.client.batch_execute("commit").await.unwrap();
    // In two batches of one part: the key that left and came back seals the first.
    let [first, second] = swap("b", "a");
    let applied = mirror
        .apply(vec![
            first,
            insert(&r, &[t(3), t("c")]),
            update_key(&r, &[t(3), N], &[t(4), t("c")]),
            update_key(&r, &[t(4), N], &[t(3), t("c")]),
            second,
        ])
        .await;
    assert_eq!(applied.rung, Rung::Sets);
    assert_eq!(
        mirror.rows("select * from deferu.t order by 1").await,
        ["1|b", "2|a", "3|c"]
    );
}

#[tokio::test]
async fn a_deferred_unique_value_of_two_rows_is_a_conflict_at_commit() {
    let mut mirror = deferrable("deferu2").await;
    let r = mirror.relation();
    mirror.client.batch_execute("begin").await.unwrap();
    mirror.applier.open(&mirror.client).await.unwrap();
    let taken = piece(vec![insert(&r, &[t(3), t("a")])]);
    mirror.applier.apply(&mirror.client, &taken).await.unwrap();
    let refused = mirror.client.batch_execute("commit").await.unwrap_err();
    assert!(Failure::of(&refused, None).is_conflict());
    assert_eq!(
        mirror.rows("select * from deferu2.t order by 1").await,
        ["1|a", "2|b"]
    );
}

#[tokio::test]
async fn keys_move_along_a_chain_and_swap_through_a_third() {
    let mut mirror = Mirror::new(&ddl("keychain"), &[("keychain.t", KEY)]).await;
    let r = mirror.relation();
    let moved = |old: i64, new: i64, u: &str| update_key(&r, &[t(old), N, N], &[t(new), t(u), U]);
    mirror
        .apply(vec![moved(3, 4, "c"), moved(2, 3, "b"), moved(1, 2, "a")])
        .await;
    let query = "select id, u, big from keychain.t order by 1";
    assert_eq!(mirror.rows(query).await, ["2|a|big", "3|b|big", "4|c|big"]);
    let whole =
        |old: i64, new: i64, u: &str| update_key(&r, &[t(old), N, N], &[t(new), t(u), t("whole")]);
    mirror
        .apply(vec![whole(2, 99, "a"), whole(3, 2, "b"), whole(99, 3, "a")])
        .await;
    assert_eq!(
        mirror.rows(query).await,
        ["2|b|whole", "3|a|whole", "4|c|big"]
    );
}

#[tokio::test]
async fn a_key_change_keeps_what_only_the_destination_has() {
    let ddl = "create schema kept; create table kept.t (id int8 primary key, u text unique, \
           made int8 generated by default as identity, note text default 'none'); \
         insert into kept.t (id, u) values (1, 'a'), (2, 'b'); update kept.t set note = 'noted'";
    let only_mapped = |tables: &mut Vec<crate::generation::Table>| {
        tables[0].columns.truncate(2);
        tables[0].delete_and_reinsert = DeleteAndReinsert::Forbidden;
    };
    let mut mirror =
        Mirror::with(ddl, &[("kept.t", KEY)], Completeness::Complete, only_mapped).await;
    let r = mirror.relation();
    mirror
        .apply(vec![
            update(&r, &[t(1), t("c")]),
            update_key(&r, &[t(1), N], &[t(10), t("d")]),
            update(&r, &[t(10), t("e")]),
            insert(&r, &[t(1), t("new")]),
        ])
        .await;
    let rows = mirror.rows("select * from kept.t order by 1").await;
    assert_eq!(rows, ["1|new|3|none", "2|b|2|noted", "10|e|1|noted"]);
    // Nor is a row replaced because unique values exchange.
    let swap = vec![update(&r, &[t(2), t("e")]), update(&r, &[t(10), t("b")])];
    assert_eq!(mirror.stop(swap).await, "destination_unique_conflict");
}

#[tokio::test]
async fn a_key_change_keeps_a_column_that_the_source_dropped() {
    let mut mirror = Mirror::with(
        &ddl("dropped"),
        &[("dropped.t", KEY)],
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
    let mut narrower = Relation::clone(&mirror.relation());
    narrower.columns.truncate(2);
    let r = Arc::new(narrower);
    mirror
        .client
        .batch_execute("update dropped.t set big = 'kept'")
        .await
        .unwrap();
    mirror
        .apply(vec![update_key(&r, &[t(1), N], &[t(9), t("z")])])
        .await;
    let rows = mirror.rows("select * from dropped.t where id = 9").await;
    assert_eq!(rows, ["9|z|kept"]);
}

#[tokio::test]
async fn keys_exchanged_under_a_deferred_constraint_stop_and_lose_nothing() {
    for rows in [U, t("whole")] {
        let schema = if rows == U { "keyswap1" } else { "keyswap2" };
        let name = format!("{schema}.t");
        let mut mirror = Mirror::new(&ddl(schema), &[(&name, KEY)]).await;
        let r = mirror.relation();
        let swap = vec![
            update_key(&r, &[t(1), N, N], &[t(2), t("x"), rows.clone()]),
            update_key(&r, &[t(2), N, N], &[t(1), t("y"), rows]),
        ];
        assert_eq!(mirror.stop(swap).await, "destination_unique_conflict");
        let query = format!("select id, u from {name} order by 1");
        assert_eq!(mirror.rows(&query).await, ["1|a", "2|b", "3|c"]);
    }
}
