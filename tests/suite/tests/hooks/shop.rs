//! Hooks of a mirror that runs: rows, receipts and tallies.

use replicant_tests::World;
use replicant_tests::hooked::{SHOP_DESTINATION, SHOP_SOURCE, Shop, pipeline, start};
use replicant_tests::refusal::{drop_slot, refused};
use replicant_tests::rewind::{forget_slot, keep_slot, rewind};

async fn world() -> World {
    World::new(SHOP_SOURCE, SHOP_DESTINATION).await
}

const RECEIPTS: &str = "select coalesce(string_agg(concat_ws(' ', payment_id, what, seen), ', ' order by id), '') \
                        from receipt";

async fn receipts(world: &World) -> String {
    world.caught_up().await;
    world.destination_text(RECEIPTS).await
}

async fn payments(world: &World) -> String {
    world.caught_up().await;
    let rows = "select coalesce(string_agg(concat_ws(' ', id, amount, note, left(body, 4), length(body)), ', ' \
                order by id), '') from payment";
    world.destination_text(rows).await
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_run_in_order_and_are_what_is_written() {
    let world = world().await;
    let handle = start::<Shop>(&world).await;
    world
        .run("insert into payment values (1, 5, '  a ', null), (2, 6, null, 'b')")
        .await;
    // Every change of a key is changed, and what is left of many is the last of them.
    world
        .run("update payment set note = ' b' where id = 1; update payment set note = 'c ', amount = 7 where id = 1")
        .await;
    assert_eq!(payments(&world).await, "1 7 <c>, 2 6 [b] 3");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_was_not_sent_keeps_what_a_change_made_of_it() {
    let world = world().await;
    let handle = start::<Shop>(&world).await;
    world
        .run("insert into payment values (1, 5, 'a', repeat('x', 10000))")
        .await;
    world
        .run("update payment set note = 'b' where id = 1")
        .await;
    assert_eq!(payments(&world).await, "1 5 <b> [xxx 10002");
    handle.stop().await.unwrap();
    // The old row of a full replica identity has the value, and the change makes the same of it again.
    let full = format!("{SHOP_SOURCE}; alter table payment replica identity full");
    let world = World::new(&full, SHOP_DESTINATION).await;
    let handle = start::<Shop>(&world).await;
    world
        .run("insert into payment values (1, 5, 'a', repeat('x', 10000))")
        .await;
    world
        .run("update payment set note = 'b' where id = 1")
        .await;
    assert_eq!(payments(&world).await, "1 5 <b> [xxx 10002");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_finds_everything_before_its_change_and_nothing_after_it() {
    let world = world().await;
    let handle = start::<Shop>(&world).await;
    // One transaction, so that everything is one group.
    world
        .run(
            "begin; insert into line values (1, 1); insert into payment values (1, 5, null, null); \
             insert into line values (2, 1); update payment set amount = 9; insert into line values (3, 1); \
             delete from payment; insert into line values (4, 1); commit",
        )
        .await;
    assert_eq!(
        receipts(&world).await,
        "1 LOOKED, 1 OPENED, 1 PAID 5, 1 LOOKED 5, 1 PAID 9, 1 LOOKED 9, 1 REMOVED, 1 LOOKED"
    );
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_create_update_and_remove_rows_beside_the_change() {
    let world = world().await;
    let handle = start::<Shop>(&world).await;
    let tallies = "select coalesce(string_agg(payment_id || ':' || lines, ' ' order by payment_id), '') from tally";
    world
        .run("insert into line values (1, 10), (2, 20), (3, 10)")
        .await;
    world.caught_up().await;
    assert_eq!(world.destination_text(tallies).await, "10:2 20:1");
    // The hook of a delete finds the row as it still is; a row that is gone is not missed.
    world
        .run("delete from line where id = 1; delete from line where id = 3")
        .await;
    world.caught_up().await;
    assert_eq!(world.destination_text(tallies).await, "20:1");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_key_is_one_row_less_and_one_more_and_a_truncate_runs_nothing() {
    let world = world().await;
    let handle = start::<Shop>(&world).await;
    world
        .run("insert into payment values (1, 5, null, null); update payment set id = 2; delete from payment")
        .await;
    let before = "1 PAID 5, 1 REMOVED, 2 PAID 5, 2 REMOVED";
    assert_eq!(receipts(&world).await, before);
    world
        .run("insert into payment values (3, 1, null, null); truncate payment")
        .await;
    assert_eq!(receipts(&world).await, format!("{before}, 3 PAID 1"));
    assert_eq!(payments(&world).await, "");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_run_of_an_action_has_a_key_of_its_own_that_a_repetition_has_again() {
    let world = world().await;
    start::<Shop>(&world).await.stop().await.unwrap();
    keep_slot(&world).await;
    let handle = start::<Shop>(&world).await;
    // Equal changes in one transaction, and two actions for one change.
    world
        .run(
            "begin; insert into payment values (1, 5, null, null); update payment set amount = 5; \
             update payment set amount = 5; update payment set id = 2; commit",
        )
        .await;
    world.caught_up().await;
    let keys = "select string_agg(operation_key, ' ' order by id) from receipt";
    let first = world.destination_text(keys).await;
    let mut distinct: Vec<&str> = first.split(' ').collect();
    assert_eq!(distinct.len(), 5);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 5);
    handle.stop().await.unwrap();
    // The transaction comes again after everything of it was undone.
    world
        .destination
        .batch_execute("delete from receipt; delete from payment")
        .await
        .unwrap();
    rewind(&world, &pipeline::<Shop>(&world).await).await;
    let handle = start::<Shop>(&world).await;
    world.caught_up().await;
    assert_eq!(world.destination_text(keys).await, first);
    handle.stop().await.unwrap();
    forget_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_applied_in_parts_runs_every_hook_once() {
    let world = world().await;
    let handle = start::<Shop>(&world).await;
    // More than a group holds.
    let body = "(select string_agg(md5(m::text || n), '') from generate_series(1, 8000) m)";
    world
        .run(&format!(
            "insert into payment select n, n, ' x', {body} from generate_series(1, 60) n"
        ))
        .await;
    let expected: Vec<String> = (1..=60).map(|n| format!("{n} PAID {n}")).collect();
    assert_eq!(receipts(&world).await, expected.join(", "));
    let whole = "select count(*)::text from payment where note = '<x>' and length(body) = 256002";
    assert_eq!(world.destination_text(whole).await, "60");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_runs_every_hook_once_in_source_order() {
    let world = world().await;
    start::<Shop>(&world).await.stop().await.unwrap();
    for n in 1..=50 {
        world
            .run(&format!(
                "insert into payment values ({n}, {n}, null, null); insert into line values ({n}, {n})"
            ))
            .await;
    }
    let handle = start::<Shop>(&world).await;
    let expected = (1..=50).map(|n| format!("{n} PAID {n}, {n} LOOKED {n}, {n} OPENED"));
    let expected: Vec<String> = expected.collect();
    assert_eq!(receipts(&world).await, expected.join(", "));
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_is_tried_again_runs_its_hooks_again_and_keeps_one_run() {
    let world = world().await;
    // The third and the fourth receipt fail as a deadlock does, whoever writes them.
    world
        .destination
        .batch_execute(
            "create sequence tries; create function flaky() returns boolean language plpgsql as $$ begin
               if nextval('public.tries') = any (array[3, 4]) then raise exception using errcode = '40P01'; end if;
               return true;
             end $$;
             alter table receipt add check (public.flaky())",
        )
        .await
        .unwrap();
    let handle = start::<Shop>(&world).await;
    world
        .run("insert into payment select n, n, null, null from generate_series(1, 4) n")
        .await;
    assert_eq!(
        receipts(&world).await,
        "1 PAID 1, 2 PAID 2, 3 PAID 3, 4 PAID 4"
    );
    let tries = "select last_value::text from tries";
    assert_eq!(world.destination_text(tries).await, "8");
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_validation_refuses_stops_exactly_before_its_transaction() {
    let world = world().await;
    start::<Shop>(&world).await.stop().await.unwrap();
    // A backlog, which is one group.
    for statement in [
        "insert into payment values (1, 5, null, null)",
        "insert into payment values (2, 6, null, null); insert into payment values (3, -1, null, null)",
        "insert into payment values (4, 7, null, null)",
    ] {
        world.run(&format!("begin; {statement}; commit")).await;
    }
    let pipeline = pipeline::<Shop>(&world).await;
    for _ in 0..2 {
        let error = refused(&pipeline).await;
        let line = error.to_string();
        assert_eq!(error.code(), "validation_refused", "{line}");
        for part in ["public.payment", "NotNegative of create", "amount_negative"] {
            assert!(line.contains(part), "{line}");
        }
        assert!(error.site().lsn.is_some());
        assert_eq!(world.destination_text(RECEIPTS).await, "1 PAID 5");
        let rows = "select string_agg(id::text, ' ') from payment";
        assert_eq!(world.destination_text(rows).await, "1");
    }
    drop_slot(&world).await;
}
