//! Decisions are recorded, change nothing the second time, and wait until nobody is alive.

use replicant_checkpoint::Reason;
use replicant_checkpoint::store::operator::{Decided, Position};
use replicant_checkpoint::store::{Binding, Completeness, Outcome};
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::Watermark;

use crate::fixture::{Fixture, commit, end, key, name, one};

#[tokio::test]
async fn adopting_is_idempotent_and_never_replaces_a_position() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let (store, client) = (&fixture.store, &mut session.client);
    let flush = Position::Flush(end(5000));
    assert_eq!(
        store.adopt(client, &fixture.key, flush).await,
        Ok(Decided::Changed)
    );
    assert_eq!(fixture.positions(client).await, (Some(4999), Some(5000)));
    assert_eq!(
        store.adopt(client, &fixture.key, flush).await,
        Ok(Decided::AlreadySo)
    );
    let foreign = key("7431250023019842563/other", "shop_orders");
    for (key, position) in [
        (&fixture.key, Position::Flush(end(5001))),
        (&fixture.key, Position::Commit(commit(4999))),
        (&foreign, flush),
    ] {
        let error = store.adopt(client, key, position).await.unwrap_err();
        assert_eq!(error.reason(), Reason::CheckpointAdoptConflict);
    }
    assert_eq!(fixture.positions(client).await, (Some(4999), Some(5000)));
    assert_eq!(decisions(&fixture, client).await, ["adopt flush: 0/1388"]);
    // The first bind fills in the contract and keeps the position.
    let bound = fixture.bound(client, "a").await;
    assert_eq!(bound.outcome(), Outcome::Initialised);
    assert_eq!(bound.watermark(), Some(Watermark::before(end(5000))));
}

#[tokio::test]
async fn a_bound_slot_without_a_position_can_be_given_one() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let (store, client) = (&fixture.store, &mut session.client);
    let bound = fixture.bound(client, "a").await;
    let commit = Position::Commit(commit(700));
    let live = store.adopt(client, &fixture.key, commit).await;
    assert_eq!(live.unwrap_err().reason(), Reason::SlotAlreadyActive);
    store.release(client, &bound).await.unwrap();
    assert_eq!(
        store.adopt(client, &fixture.key, commit).await,
        Ok(Decided::Changed)
    );
    assert_eq!(
        store.adopt(client, &fixture.key, commit).await,
        Ok(Decided::AlreadySo)
    );
    assert_eq!(fixture.positions(client).await, (Some(700), None));
}

#[tokio::test]
async fn reset_forgets_everything_but_the_decision() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let (store, client) = (&fixture.store, &mut session.client);
    assert_eq!(
        store.reset(client, &fixture.key).await,
        Ok(Decided::AlreadySo)
    );
    let targets = [name("mirror.orders")];
    let binding = Binding {
        targets: &targets,
        ..fixture.binding("a")
    };
    store.bind(client, &binding).await.unwrap();
    let bound = fixture.started(client, "a").await;
    let set: [(QualifiedName, _); 1] = [(name("public.orders"), Completeness::Complete)];
    store.set_completeness(client, &bound, &set).await.unwrap();
    let live = store.reset(client, &fixture.key).await.unwrap_err();
    assert_eq!(live.reason(), Reason::SlotAlreadyActive);
    store.release(client, &bound).await.unwrap();
    let foreign = key("7431250023019842563/other", "shop_orders");
    assert_eq!(store.reset(client, &foreign).await, Ok(Decided::AlreadySo));
    assert_eq!(
        store.reset(client, &fixture.key).await,
        Ok(Decided::Changed)
    );
    assert_eq!(
        store.reset(client, &fixture.key).await,
        Ok(Decided::AlreadySo)
    );
    assert_eq!(store.show(client, &fixture.key.slot).await, Ok(None));
    for table in [
        "replicant_contracts",
        "replicant_leases",
        "replicant_tables",
        "replicant_targets",
    ] {
        let sql = format!("select pg_catalog.count(*) from {}", fixture.table(table));
        assert_eq!(one::<i64>(client, &sql).await, 0, "{table}");
    }
    assert_eq!(
        decisions(&fixture, client).await,
        ["reset: watermark was 0/3E7"]
    );
}

#[tokio::test]
async fn an_owner_from_before_a_reset_cannot_write_after_it() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let zombie = fixture.started(&mut session.client, "a").await;
    fixture
        .store
        .release(&session.client, &zombie)
        .await
        .unwrap();
    fixture
        .store
        .reset(&mut session.client, &fixture.key)
        .await
        .unwrap();
    let begun = fixture.store.begin(&session.client, &zombie).await;
    assert_eq!(begun.unwrap_err().reason(), Reason::CheckpointUnbound);
    fixture.started(&mut session.client, "b").await;
    let begun = fixture.store.begin(&session.client, &zombie).await;
    assert_eq!(begun.unwrap_err().reason(), Reason::LeaseLost);
}

#[tokio::test]
async fn acknowledging_a_timeline_lets_it_bind_and_fences_the_old_owner() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let (store, client) = (&fixture.store, &mut session.client);
    let missing = store.acknowledge_timeline(client, &fixture.key, 2).await;
    assert_eq!(missing.unwrap_err().reason(), Reason::CheckpointUnbound);
    store
        .adopt(client, &fixture.key, Position::Flush(end(1000)))
        .await
        .unwrap();
    let never = store.acknowledge_timeline(client, &fixture.key, 2).await;
    assert_eq!(never.unwrap_err().reason(), Reason::CheckpointAdoptInvalid);
    let bound = fixture.bound(client, "a").await;
    let live = store.acknowledge_timeline(client, &fixture.key, 2).await;
    assert_eq!(live.unwrap_err().reason(), Reason::SlotAlreadyActive);
    store.release(client, &bound).await.unwrap();
    for decided in [Decided::Changed, Decided::AlreadySo] {
        let answer = store.acknowledge_timeline(client, &fixture.key, 2).await;
        assert_eq!(answer, Ok(decided));
    }
    let begun = store.begin(client, &bound).await;
    assert_eq!(begun.unwrap_err().reason(), Reason::LeaseLost);
    let binding = Binding {
        timeline: 2,
        ..fixture.binding("a")
    };
    let again = store.bind(client, &binding).await.unwrap();
    assert_eq!(again.outcome(), Outcome::Unchanged);
    assert_eq!(again.acked_end(), Some(end(1000)));
    assert_eq!(
        decisions(&fixture, client).await,
        ["adopt flush: 0/3E8", "acknowledge timeline: from 1 to 2"]
    );
}

#[tokio::test]
async fn show_tells_what_is_stored() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    fixture.started(&mut session.client, "a").await;
    let shown = fixture.store.show(&session.client, &fixture.key.slot).await;
    let shown = shown.unwrap().unwrap();
    assert_eq!(shown.system, "7431250023019842563");
    assert_eq!(shown.database, "shop");
    assert_eq!(shown.acked_end, Some(end(1000)));
    assert_eq!(shown.timeline, Some(1));
    assert_eq!(shown.fingerprint.unwrap().len(), 64);
    assert_eq!(shown.lease.unwrap().owner.as_deref(), Some("a"));
}

async fn decisions(fixture: &Fixture, client: &tokio_postgres::Client) -> Vec<String> {
    let table = fixture.table("replicant_decisions");
    let sql = format!("select decision || ': ' || fact from {table} order by id");
    let rows = client.query(&sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}
