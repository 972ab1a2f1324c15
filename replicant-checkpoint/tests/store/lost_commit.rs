//! A COMMIT without an answer is resolved by waiting, never by a plain read.

use std::pin::pin;

use replicant_checkpoint::store::{CommitFailure, Resolution};
use replicant_transport::ack::CommitProof;
use tokio::sync::Mutex;

use crate::fixture::{Fixture, Session, commit, end, one, until, until_blocked};

/// The standby setting is the server's; tests that turn it take turns.
static STANDBY: Mutex<()> = Mutex::const_new(());

async fn standby(session: &Session, names: &str) {
    let sql = format!("alter system set synchronous_standby_names = '{names}'");
    session.client.batch_execute(&sql).await.unwrap();
    session
        .client
        .batch_execute("select pg_catalog.pg_reload_conf()")
        .await
        .unwrap();
    until(
        &session.client,
        &format!("select pg_catalog.current_setting('synchronous_standby_names') = '{names}'"),
    )
    .await;
}

/// Names a standby that does not exist and waits until commits really wait for it: the checkpointer puts the setting
/// into effect some time after the reload.
async fn standby_that_never_answers(fixture: &Fixture, observer: &Session) {
    standby(observer, "nobody").await;
    let probe = fixture.session().await;
    wait_for_standby(&probe).await;
    // A commit that wrote no WAL waits for nobody.
    let commit = "select pg_catalog.pg_logical_emit_message(true, 'probe', '')";
    loop {
        let mut committed = pin!(probe.client.batch_execute(commit));
        tokio::select! {
            committed = &mut committed => committed.unwrap(),
            () = until_waiting_for_standby(observer, probe.pid) => {
                let cancel = format!("select pg_catalog.pg_cancel_backend({})", probe.pid);
                assert!(one::<bool>(&observer.client, &cancel).await);
                // The warning that no standby confirmed is counted before this answers; it must not be taken for one
                // about what the test does next.
                return committed.await.unwrap();
            }
        }
    }
}

async fn wait_for_standby(session: &Session) {
    session
        .client
        .batch_execute("set synchronous_commit = on")
        .await
        .unwrap();
}

async fn until_waiting_for_standby(observer: &Session, pid: i32) {
    until(
        &observer.client,
        &format!(
            "select wait_event = 'SyncRep' is true from pg_catalog.pg_stat_activity where pid = {pid}"
        ),
    )
    .await;
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_found_committed_though_a_plain_read_denies_it() {
    let _turn = STANDBY.lock().await;
    let fixture = Fixture::new().await;
    let (mut session, observer) = (fixture.session().await, fixture.session().await);
    let fresh = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    standby_that_never_answers(&fixture, &observer).await;
    wait_for_standby(&session).await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let (failure, ()) = tokio::join!(delivery.commit(commit(2000), end(2008)), async {
        until_waiting_for_standby(&observer, session.pid).await;
        session.cut();
    });
    assert_eq!(failure, Err(CommitFailure::Unknown));
    // The trap: the transaction is not visible yet, and it will be.
    assert_eq!(
        fixture.positions(&observer.client).await,
        (Some(999), Some(1000))
    );
    let (resolved, ()) = tokio::join!(
        fixture
            .store
            .resolve_lost_commit(&fresh.client, &bound, commit(2000)),
        async {
            until_blocked(&observer.client, fresh.pid).await;
            standby(&observer, "").await;
        }
    );
    let Ok(Resolution::Committed(proof)) = resolved else {
        panic!("{resolved:?}");
    };
    assert_eq!(proof.acked_end(), end(2008));
}

#[tokio::test]
async fn a_commit_that_never_arrived_is_found_not_committed() {
    let fixture = Fixture::new().await;
    let (mut session, fresh) = (fixture.session().await, fixture.session().await);
    let rows = fixture.rows_table(&session.client).await;
    let bound = fixture.started(&mut session.client, "a").await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let insert = format!("insert into {rows} values (1)");
    delivery.client().batch_execute(&insert).await.unwrap();
    session.cut();
    let failure = delivery.commit(commit(2000), end(2008)).await;
    assert_eq!(failure, Err(CommitFailure::Unknown));
    let resolved = fixture
        .store
        .resolve_lost_commit(&fresh.client, &bound, commit(2000))
        .await;
    assert_eq!(resolved, Ok(Resolution::NotCommitted));
    let left: i64 = one(
        &fresh.client,
        &format!("select pg_catalog.count(*) from {rows}"),
    )
    .await;
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_terminated_session_leaves_the_outcome_unknown() {
    let fixture = Fixture::new().await;
    let (mut session, fresh) = (fixture.session().await, fixture.session().await);
    let bound = fixture.started(&mut session.client, "a").await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let kill = format!(
        "select pg_catalog.pg_terminate_backend({}, 20000)",
        session.pid
    );
    assert!(one::<bool>(&fresh.client, &kill).await);
    let failure = delivery.commit(commit(2000), end(2008)).await;
    assert_eq!(failure, Err(CommitFailure::Unknown));
    let resolved = fixture
        .store
        .resolve_lost_commit(&fresh.client, &bound, commit(2000))
        .await;
    assert_eq!(resolved, Ok(Resolution::NotCommitted));
}

#[tokio::test]
async fn a_commit_that_no_standby_confirmed_is_not_called_durable() {
    let _turn = STANDBY.lock().await;
    let fixture = Fixture::new().await;
    let (mut session, observer) = (fixture.session().await, fixture.session().await);
    let fresh = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    standby_that_never_answers(&fixture, &observer).await;
    wait_for_standby(&session).await;
    wait_for_standby(&fresh).await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let cancel = |pid: i32| {
        let observer = &observer;
        async move {
            until_waiting_for_standby(observer, pid).await;
            let sql = format!("select pg_catalog.pg_cancel_backend({pid})");
            assert!(one::<bool>(&observer.client, &sql).await);
        }
    };
    let (failure, ()) = tokio::join!(
        delivery.commit(commit(2000), end(2008)),
        cancel(session.pid)
    );
    // The server answered COMMIT and warned.
    assert_eq!(failure, Err(CommitFailure::Unknown));
    // Asking does not help while the standby is away: reading waits for it as well.
    let resolve = || {
        fixture
            .store
            .resolve_lost_commit(&fresh.client, &bound, commit(2000))
    };
    let (unsure, ()) = tokio::join!(resolve(), cancel(fresh.pid));
    assert_eq!(
        unsure.unwrap_err().reason(),
        replicant_checkpoint::Reason::CheckpointNotReplicated
    );
    let (resolved, ()) = tokio::join!(resolve(), async {
        until_waiting_for_standby(&observer, fresh.pid).await;
        standby(&observer, "").await;
    });
    assert!(
        matches!(resolved, Ok(Resolution::Committed(_))),
        "{resolved:?}"
    );
}

#[tokio::test]
async fn a_new_owner_decides_for_itself() {
    let fixture = Fixture::new().await;
    let (mut session, mut other) = (fixture.session().await, fixture.session().await);
    let bound = fixture.started(&mut session.client, "a").await;
    fixture.bound(&mut other.client, "b").await;
    let resolved = fixture
        .store
        .resolve_lost_commit(&session.client, &bound, commit(2000))
        .await;
    assert_eq!(
        resolved.unwrap_err().reason(),
        replicant_checkpoint::Reason::LeaseLost
    );
}
