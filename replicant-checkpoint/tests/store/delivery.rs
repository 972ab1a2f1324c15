//! One transaction takes effect once, together with its watermark, and only for the owner.

use replicant_checkpoint::store::operator::Position;
use replicant_checkpoint::store::{Admission, CommitFailure, Fault};
use replicant_checkpoint::{Error, Reason};
use replicant_transport::ack::CommitProof;
use replicant_transport::position::Watermark;
use replicant_transport::source::SlotProvenance;

use crate::fixture::{Fixture, commit, end, one, until_blocked};

#[tokio::test]
async fn rows_watermark_and_acked_end_commit_together() {
    let fixture = Fixture::new().await;
    let (mut session, observer) = (fixture.session().await, fixture.session().await);
    let rows = fixture.rows_table(&session.client).await;
    let bound = fixture.started(&mut session.client, "a").await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    assert_eq!(delivery.watermark(), Some(Watermark::before(end(1000))));
    assert_eq!(delivery.acked_end(), end(1000));
    let insert = format!("insert into {rows} values (2000)");
    delivery.client().batch_execute(&insert).await.unwrap();
    assert_eq!(count(&observer.client, &rows).await, 0);
    let proof = delivery.commit(commit(2000), end(2048)).await.unwrap();
    assert_eq!(proof.watermark(), Watermark::at(commit(2000)));
    assert_eq!(proof.acked_end(), end(2048));
    assert_eq!(count(&observer.client, &rows).await, 1);
    assert_eq!(
        fixture.positions(&observer.client).await,
        (Some(2000), Some(2048))
    );
}

#[tokio::test]
async fn a_transaction_at_or_below_the_watermark_is_already_applied() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    // The slot starts at 1000, so the transaction whose record starts there is still to come.
    assert_eq!(delivery.admit(commit(999)), Admission::AlreadyApplied);
    assert_eq!(delivery.admit(commit(1000)), Admission::Apply);
    delivery.commit(commit(2000), end(2048)).await.unwrap();
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    assert_eq!(delivery.admit(commit(1999)), Admission::AlreadyApplied);
    assert_eq!(delivery.admit(commit(2000)), Admission::AlreadyApplied);
    assert_eq!(delivery.admit(commit(2048)), Admission::Apply);
    // Even so it proves what is durable.
    let proof = delivery.confirm(end(2048)).await.unwrap();
    assert_eq!(proof.watermark(), Watermark::at(commit(2000)));
    assert_eq!(proof.acked_end(), end(2048));
}

#[tokio::test]
async fn what_an_adopted_position_covers_moves_the_acked_end_when_it_is_confirmed() {
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
    let slot = fixture.slot(2000, SlotProvenance::Reused);
    store.origin(client, &bound, &slot, &[]).await.unwrap();
    for (at, acked) in [(2508, 2508), (2408, 2508), (3008, 3008)] {
        let delivery = store.begin(client, &bound).await.unwrap();
        assert_eq!(delivery.admit(commit(at - 8)), Admission::AlreadyApplied);
        let proof = delivery.confirm(end(at)).await.unwrap();
        assert_eq!(proof.watermark(), Watermark::at(commit(3000)));
        assert_eq!(proof.acked_end(), end(acked));
        let stored = (Some(3000), Some(i64::try_from(acked).unwrap()));
        assert_eq!(fixture.positions(client).await, stored);
    }
}

#[tokio::test]
async fn racing_deliveries_of_one_transaction_apply_it_once() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let rows = fixture.rows_table(&session.client).await;
    let bound = fixture.started(&mut session.client, "a").await;
    let others = [fixture.session().await, fixture.session().await];
    for lsn in (2000..2400).step_by(100) {
        let deliver = async |client| {
            let prepared = fixture.store.prepare(client).await.unwrap();
            let delivery = fixture
                .store
                .begin_prepared(client, &bound, &prepared)
                .await;
            let delivery = delivery.unwrap();
            match delivery.admit(commit(lsn)) {
                Admission::AlreadyApplied => {
                    delivery.confirm(end(lsn + 8)).await.unwrap();
                    0
                }
                Admission::Apply => {
                    let insert = format!("insert into {rows} values ({lsn})");
                    delivery.client().batch_execute(&insert).await.unwrap();
                    delivery.commit(commit(lsn), end(lsn + 8)).await.unwrap();
                    1
                }
            }
        };
        let (a, b) = tokio::join!(deliver(&others[0].client), deliver(&others[1].client));
        assert_eq!(a + b, 1);
    }
    assert_eq!(count(&session.client, &rows).await, 4);
}

#[tokio::test]
async fn statements_prepared_on_one_connection_are_refused_on_another() {
    let fixture = Fixture::new().await;
    let (mut session, other) = (fixture.session().await, fixture.session().await);
    let bound = fixture.started(&mut session.client, "a").await;
    let prepared = fixture.store.prepare(&session.client).await.unwrap();
    let begun = fixture
        .store
        .begin_prepared(&other.client, &bound, &prepared)
        .await;
    let error = begun.unwrap_err();
    assert_eq!(error.site().sqlstate.unwrap().as_str(), "26000");
    let delivery = fixture
        .store
        .begin_prepared(&session.client, &bound, &prepared)
        .await;
    delivery
        .unwrap()
        .commit(commit(2000), end(2008))
        .await
        .unwrap();
}

#[tokio::test]
async fn deliveries_follow_one_another() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let (second, observer) = (fixture.session().await, fixture.session().await);
    let bound = fixture.started(&mut session.client, "a").await;
    let first = fixture.store.begin(&session.client, &bound).await.unwrap();
    let (next, ()) = tokio::join!(fixture.store.begin(&second.client, &bound), async {
        until_blocked(&observer.client, second.pid).await;
        first.commit(commit(2000), end(2008)).await.unwrap();
    });
    assert_eq!(next.unwrap().admit(commit(2000)), Admission::AlreadyApplied);
}

#[tokio::test]
async fn an_absent_row_is_unbound_and_never_position_zero() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let delete = format!("delete from {}", fixture.table("replicant_watermarks"));
    session.client.batch_execute(&delete).await.unwrap();
    let client = &session.client;
    let store = &fixture.store;
    let slot = fixture.slot(1000, SlotProvenance::Reused);
    for error in [
        store.begin(client, &bound).await.unwrap_err(),
        store
            .record_idle(client, &bound, end(5000))
            .await
            .unwrap_err(),
        store.origin(client, &bound, &slot, &[]).await.unwrap_err(),
        store
            .resolve_lost_commit(client, &bound, commit(5000))
            .await
            .unwrap_err(),
        store
            .set_completeness(client, &bound, &[])
            .await
            .unwrap_err(),
    ] {
        assert_eq!(error.reason(), Reason::CheckpointUnbound);
    }
}

#[tokio::test]
async fn a_checkpoint_without_a_position_delivers_nothing() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.bound(&mut session.client, "a").await;
    let begun = fixture.store.begin(&session.client, &bound).await;
    assert_eq!(begun.unwrap_err().reason(), Reason::CheckpointUnbound);
    let idle = fixture
        .store
        .record_idle(&session.client, &bound, end(5000))
        .await;
    assert!(idle.is_err());
    assert_eq!(fixture.positions(&session.client).await, (None, None));
}

#[tokio::test]
async fn a_null_watermark_covers_nothing() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.started(&mut session.client, "a").await;
    let clear = format!(
        "update {} set watermark = null",
        fixture.table("replicant_watermarks")
    );
    session.client.batch_execute(&clear).await.unwrap();
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    assert_eq!(delivery.watermark(), None);
    for lsn in [0, 1, 999, 5000] {
        assert_eq!(delivery.admit(commit(lsn)), Admission::Apply);
    }
    delivery.commit(commit(8), end(16)).await.unwrap();
    // The acked end never moves back.
    assert_eq!(
        fixture.positions(&session.client).await,
        (Some(8), Some(1000))
    );
}

#[tokio::test]
async fn a_commit_that_does_not_lie_past_the_watermark_takes_nothing_with_it() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let rows = fixture.rows_table(&session.client).await;
    let bound = fixture.started(&mut session.client, "a").await;
    for (at, to) in [
        (999, 2000),
        (2000, 2000),
        (2000, 1500),
        (u64::MAX - 8, u64::MAX),
    ] {
        let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
        let insert = format!("insert into {rows} values (1)");
        delivery.client().batch_execute(&insert).await.unwrap();
        let failure = delivery.commit(commit(at), end(to)).await.unwrap_err();
        assert!(
            matches!(&failure, CommitFailure::RolledBack(error, _)
                if error.reason() == Reason::CheckpointPositionInvalid),
            "{failure:?}"
        );
        assert_eq!(count(&session.client, &rows).await, 0);
    }
}

#[tokio::test]
async fn rows_do_not_commit_when_the_watermark_row_is_taken_away_inside_the_delivery() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let rows = fixture.rows_table(&session.client).await;
    let bound = fixture.started(&mut session.client, "a").await;
    let watermarks = fixture.table("replicant_watermarks");
    for damage in [
        format!("delete from {watermarks}"),
        format!("update {watermarks} set epoch = 0"),
        format!("update {watermarks} set watermark = 9000"),
    ] {
        let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
        let sql = format!("insert into {rows} values (1); {damage}");
        delivery.client().batch_execute(&sql).await.unwrap();
        let failure = delivery.commit(commit(2000), end(2008)).await.unwrap_err();
        assert!(
            matches!(&failure, CommitFailure::RolledBack(error, _)
                if error.reason() == Reason::CheckpointDamaged),
            "{failure:?}"
        );
        assert_eq!(count(&session.client, &rows).await, 0, "{damage}");
    }
    assert_eq!(
        fixture.positions(&session.client).await,
        (Some(999), Some(1000))
    );
}

#[tokio::test]
async fn a_failed_statement_or_a_deferred_constraint_rolls_everything_back() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let rows = fixture.rows_table(&session.client).await;
    let constrain = format!(
        "create table {0} (id pg_catalog.int8 primary key); \
         alter table {rows} add foreign key (lsn) references {0} deferrable initially deferred",
        fixture.table("parents")
    );
    session.client.batch_execute(&constrain).await.unwrap();
    let bound = fixture.started(&mut session.client, "a").await;
    let bad = format!("insert into {rows} values ('x')");
    let orphan = format!("insert into {rows} values (1)");
    for (sql, state) in [(bad, "25P02"), (orphan, "23503")] {
        let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
        let _ = delivery.client().batch_execute(&sql).await;
        let failure = delivery.commit(commit(2000), end(2008)).await.unwrap_err();
        assert!(
            matches!(&failure, CommitFailure::RolledBack(Error::Fault(Fault::Refused(Some(code))), _)
                if code.as_str() == state),
            "{failure:?}"
        );
        assert_eq!(
            fixture.positions(&session.client).await,
            (Some(999), Some(1000))
        );
    }
    // The connection is usable, and the same transaction can be delivered after the cause is gone.
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    delivery.commit(commit(2000), end(2008)).await.unwrap();
}

#[tokio::test]
async fn a_dropped_delivery_leaves_nothing_behind_on_its_connection() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let rows = fixture.rows_table(&session.client).await;
    let bound = fixture.started(&mut session.client, "a").await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let insert = format!("insert into {rows} values (1)");
    delivery.client().batch_execute(&insert).await.unwrap();
    drop(delivery);
    // The next delivery on the same connection must not carry the dropped one's row.
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    delivery.commit(commit(2000), end(2008)).await.unwrap();
    assert_eq!(count(&session.client, &rows).await, 0);
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    delivery.client().batch_execute(&insert).await.unwrap();
    delivery.rollback().await.unwrap();
    assert_eq!(count(&session.client, &rows).await, 0);
}

#[tokio::test]
async fn a_begin_that_is_dropped_while_it_waits_leaves_no_transaction() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let (second, observer) = (fixture.session().await, fixture.session().await);
    let bound = fixture.started(&mut session.client, "a").await;
    let first = fixture.store.begin(&session.client, &bound).await.unwrap();
    {
        let waiting = fixture.store.begin(&second.client, &bound);
        tokio::select! {
            _ = waiting => panic!("the row is locked"),
            () = until_blocked(&observer.client, second.pid) => {}
        }
    }
    first.rollback().await.unwrap();
    let sql = "select pg_catalog.pg_current_xact_id_if_assigned() is null";
    assert!(one::<bool>(&second.client, sql).await);
}

#[tokio::test]
async fn an_advance_is_a_small_heap_only_update() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let observer = fixture.session().await;
    observer
        .client
        .batch_execute("create extension if not exists pg_walinspect with schema pg_catalog")
        .await
        .unwrap();
    let bound = fixture.started(&mut session.client, "a").await;
    for lsn in (2000..4000).step_by(100) {
        let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
        delivery.commit(commit(lsn), end(lsn + 8)).await.unwrap();
    }
    let from: String = one(&observer.client, CURRENT).await;
    let delivery = fixture.store.begin(&session.client, &bound).await.unwrap();
    let xid: String = one(
        delivery.client(),
        "select pg_catalog.pg_current_xact_id()::pg_catalog.text",
    )
    .await;
    delivery.commit(commit(5000), end(5008)).await.unwrap();
    let to: String = one(&observer.client, CURRENT).await;
    // Which transaction clears away old row versions, in Heap2 records, depends on what every other session can see.
    let records = observer
        .client
        .query(
            &format!(
                "select resource_manager || '/' || record_type, record_length - fpi_length \
                 from pg_catalog.pg_get_wal_records_info('{from}', '{to}') \
                 where xid::pg_catalog.text = '{xid}' \
                 and resource_manager in ('Heap', 'Transaction') order by start_lsn"
            ),
            &[],
        )
        .await
        .unwrap();
    let records: Vec<(String, i32)> = records.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(
        records.iter().any(|(kind, _)| kind == "Heap/HOT_UPDATE"),
        "{records:?}"
    );
    let total: i32 = records.iter().map(|(_, length)| length).sum();
    assert!(total < 320, "{records:?}");
}

const CURRENT: &str = "select pg_catalog.pg_current_wal_flush_lsn()::pg_catalog.text";

async fn count(client: &tokio_postgres::Client, table: &str) -> i64 {
    one(client, &format!("select pg_catalog.count(*) from {table}")).await
}
