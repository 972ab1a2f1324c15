//! The lease tells people and the next binder who is alive; it never gets in the way of a delivery.

use replicant_checkpoint::Reason;
use replicant_checkpoint::store::{LeaseState, Tombstone};
use replicant_transport::reason::Class;

use crate::fixture::{Fixture, commit, end};

#[tokio::test]
async fn a_heartbeat_does_not_wait_for_an_open_delivery() {
    let fixture = Fixture::new().await;
    let (mut session, second) = (fixture.session().await, fixture.session().await);
    let bound = fixture.started(&mut session.client, "a").await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let store = &fixture.store;
    store
        .heartbeat(&second.client, &bound, "{\"lag\": 1}")
        .await
        .unwrap();
    let tombstone = Tombstone {
        cause: "destination_diverged",
        class: Class::OperatorDecision,
    };
    store
        .tombstone(&second.client, &bound, tombstone)
        .await
        .unwrap();
    delivery.commit(commit(2000), end(2008)).await.unwrap();
}

#[tokio::test]
async fn heartbeats_renew_the_lease_and_a_lost_one_says_so() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let store = &fixture.store;
    assert_eq!(store.lease(&session.client, &fixture.key).await, Ok(None));
    let bound = fixture.bound(&mut session.client, "a").await;
    let expire = format!(
        "update {} set expires_at = pg_catalog.clock_timestamp()",
        fixture.table("replicant_leases")
    );
    session.client.batch_execute(&expire).await.unwrap();
    let lease = store
        .lease(&session.client, &fixture.key)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(lease.state, LeaseState::Expired);
    store
        .heartbeat(&session.client, &bound, "{\"lag\": 1}")
        .await
        .unwrap();
    let lease = store
        .lease(&session.client, &fixture.key)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(lease.state, LeaseState::Live);
    assert_eq!(lease.owner.as_deref(), Some("a"));
    assert_eq!(lease.epoch, bound.epoch());
    assert_eq!(lease.status.as_deref(), Some("{\"lag\": 1}"));
    assert!(lease.heartbeat_age.unwrap().as_secs() < 10);
    fixture.bound(&mut session.client, "b").await;
    let lost = store.heartbeat(&session.client, &bound, "{}").await;
    assert_eq!(lost.unwrap_err().reason(), Reason::LeaseLost);
    // Releasing what was lost leaves the new owner alone.
    store.release(&session.client, &bound).await.unwrap();
    let lease = store
        .lease(&session.client, &fixture.key)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(lease.state, LeaseState::Live);
}

#[tokio::test]
async fn a_tombstone_stays_until_the_next_bind() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let store = &fixture.store;
    let bound = fixture.bound(&mut session.client, "a").await;
    let tombstone = Tombstone {
        cause: "truncate_halt",
        class: Class::OperatorDecision,
    };
    store
        .tombstone(&session.client, &bound, tombstone)
        .await
        .unwrap();
    let lease = store
        .lease(&session.client, &fixture.key)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(lease.state, LeaseState::Released);
    let buried = lease.tombstone.unwrap();
    assert_eq!(buried.cause, "truncate_halt");
    assert_eq!(buried.class, "operator decision");
    fixture.bound(&mut session.client, "a").await;
    let lease = store
        .lease(&session.client, &fixture.key)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(lease.tombstone, None);
    let late = store.tombstone(&session.client, &bound, tombstone).await;
    assert_eq!(late.unwrap_err().reason(), Reason::LeaseLost);
}
