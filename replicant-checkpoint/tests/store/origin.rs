//! A slot that forgot something the destination lacks is never streamed from.

use replicant_checkpoint::Reason;
use replicant_checkpoint::store::{Completeness, operator::Position};
use replicant_transport::ack::CommitProof;
use replicant_transport::position::Watermark;
use replicant_transport::source::SlotProvenance;

use crate::fixture::{Fixture, commit, end, name};

fn created(empty: &[&str]) -> SlotProvenance {
    SlotProvenance::Created {
        empty_tables: empty.iter().map(|table| name(table)).collect(),
    }
}

#[tokio::test]
async fn the_first_start_takes_the_slots_position() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.bound(&mut session.client, "a").await;
    let slot = fixture.slot(1000, created(&["public.empty", "public.ignored"]));
    let client = &session.client;
    let mapped = [
        fixture.mapped(client, "empty", 1, &[]).await,
        fixture.mapped(client, "full", 2, &[]).await,
    ];
    let proof = fixture
        .store
        .origin(client, &bound, &slot, &mapped)
        .await
        .unwrap();
    assert_eq!(proof.acked_end(), end(1000));
    assert_eq!(proof.watermark(), Watermark::before(end(1000)));
    assert_eq!(fixture.positions(client).await, (Some(999), Some(1000)));
    let tables = fixture.store.completeness(client, &bound).await.unwrap();
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[&name("public.empty")], Completeness::Complete);
    assert_eq!(tables[&name("public.full")], Completeness::Open);
}

#[tokio::test]
async fn a_table_is_complete_only_when_its_destination_was_empty_too() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.bound(&mut session.client, "a").await;
    let client = &session.client;
    let slot = fixture.slot(1000, created(&["public.clean", "public.leftover"]));
    let mapped = [
        fixture.mapped(client, "clean", 1, &[]).await,
        fixture.mapped(client, "leftover", 2, &[]).await,
    ];
    let leftover = format!("insert into {} values (1)", mapped[1].target.quoted());
    client.batch_execute(&leftover).await.unwrap();
    let store = &fixture.store;
    store.origin(client, &bound, &slot, &mapped).await.unwrap();
    let tables = store.completeness(client, &bound).await.unwrap();
    assert_eq!(tables[&name("public.clean")], Completeness::Complete);
    assert_eq!(tables[&name("public.leftover")], Completeness::Open);
}

#[tokio::test]
async fn a_table_or_column_that_was_replaced_is_noticed_at_the_next_start() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let client = &session.client;
    let store = &fixture.store;
    let slot = fixture.slot(1000, SlotProvenance::Reused);
    let start = async |oid, columns: &[(&str, i16)]| {
        let mapped = [fixture.mapped(client, "orders", oid, columns).await];
        store.origin(client, &bound, &slot, &mapped).await
    };
    let complete = [(name("public.orders"), Completeness::Complete)];
    store
        .set_completeness(client, &bound, &complete)
        .await
        .unwrap();
    start(16_400, &[("id", 1), ("total value", 2)])
        .await
        .unwrap();
    // The same again, and grown by a column.
    start(16_400, &[("id", 1), ("total value", 2)])
        .await
        .unwrap();
    start(16_400, &[("id", 1), ("total value", 2), ("new", 5)])
        .await
        .unwrap();
    let error = start(16_400, &[("id", 1), ("total value", 7)])
        .await
        .unwrap_err();
    assert_eq!(error.reason(), Reason::SourceColumnReplaced);
    assert_eq!(error.site().table, Some(name("public.orders")));
    assert_eq!(error.site().column.unwrap().as_str(), "total value");
    let error = start(16_400, &[("new", 6)]).await.unwrap_err();
    assert_eq!(error.reason(), Reason::SourceColumnReplaced);
    let error = start(4_000_000_000, &[("id", 1), ("total value", 2)])
        .await
        .unwrap_err();
    assert_eq!(error.reason(), Reason::SourceTableReplaced);
    // Nothing of that was stored.
    start(16_400, &[("id", 1), ("total value", 2)])
        .await
        .unwrap();
    let tables = store.completeness(client, &bound).await.unwrap();
    assert_eq!(tables[&name("public.orders")], Completeness::Complete);
    // A reset forgets it.
    store.release(client, &bound).await.unwrap();
    store
        .reset(&mut fixture.session().await.client, &fixture.key)
        .await
        .unwrap();
    let mut again = fixture.session().await;
    let bound = fixture.started(&mut again.client, "b").await;
    let mapped = [fixture.mapped(client, "orders", 16_500, &[("id", 9)]).await];
    store.origin(client, &bound, &slot, &mapped).await.unwrap();
}

#[tokio::test]
async fn a_slot_ahead_of_the_destination_halts_and_one_behind_it_resumes() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let client = &session.client;
    let origin = async |at, provenance| {
        let slot = fixture.slot(at, provenance);
        fixture.store.origin(client, &bound, &slot, &[]).await
    };
    for at in [1000, 1] {
        let proof = origin(at, SlotProvenance::Reused).await.unwrap();
        assert_eq!(proof.acked_end(), end(1000));
    }
    let ahead = origin(1001, SlotProvenance::Reused).await.unwrap_err();
    assert_eq!(ahead.reason(), Reason::DestinationBehindSlot);
    // A new slot kept nothing of what came before it, wherever it starts.
    let recreated = origin(900, created(&[])).await.unwrap_err();
    assert_eq!(recreated.reason(), Reason::DestinationBehindSlot);
    assert_eq!(fixture.positions(client).await, (Some(999), Some(1000)));
    // What idle advance recorded counts.
    fixture
        .store
        .record_idle(client, &bound, end(5000))
        .await
        .unwrap();
    origin(5000, SlotProvenance::Reused).await.unwrap();
}

#[tokio::test]
async fn an_adopted_commit_trusts_the_existing_slot_and_no_new_one() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let position = Position::Commit(commit(3000));
    let store = &fixture.store;
    store
        .adopt(&mut session.client, &fixture.key, position)
        .await
        .unwrap();
    let bound = fixture.bound(&mut session.client, "a").await;
    let client = &session.client;
    let slot = fixture.slot(4000, created(&[]));
    let refused = store.origin(client, &bound, &slot, &[]).await.unwrap_err();
    assert_eq!(refused.reason(), Reason::DestinationBehindSlot);
    let slot = fixture.slot(2000, SlotProvenance::Reused);
    let proof = store.origin(client, &bound, &slot, &[]).await.unwrap();
    // The adopted watermark is later than the slot: what the slot repeats is skipped.
    assert_eq!(proof.watermark(), Watermark::at(commit(3000)));
    assert_eq!(proof.acked_end(), end(2000));
}

#[tokio::test]
async fn idle_advance_moves_only_the_acked_end_and_never_back() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let client = &session.client;
    for (at, expected) in [(7000, 7000), (6000, 7000), (7001, 7001)] {
        let proof = fixture
            .store
            .record_idle(client, &bound, end(at))
            .await
            .unwrap();
        assert_eq!(proof.acked_end(), end(expected));
        assert_eq!(proof.watermark(), Watermark::before(end(1000)));
        let stored = fixture.positions(client).await;
        assert_eq!(stored, (Some(999), Some(i64::try_from(expected).unwrap())));
    }
}

#[tokio::test]
async fn completeness_is_set_and_read_per_table() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let (client, store) = (&session.client, &fixture.store);
    let (a, b) = (name("public.a"), name("Sch ema.b\"c"));
    let set = [
        (a.clone(), Completeness::Filling),
        (b.clone(), Completeness::Complete),
    ];
    store.set_completeness(client, &bound, &set).await.unwrap();
    let set = [(a.clone(), Completeness::Complete)];
    store.set_completeness(client, &bound, &set).await.unwrap();
    let tables = store.completeness(client, &bound).await.unwrap();
    assert_eq!(tables[&a], Completeness::Complete);
    assert_eq!(tables[&b], Completeness::Complete);
    assert_eq!(tables.get(&name("public.c")), None);
}
